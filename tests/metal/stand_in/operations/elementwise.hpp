#pragma once

#include "support.hpp"

namespace stand_in {

/// result[i] = function(tensor[i]); floating types only.
MPSGraphTensor* add_unary(const Site& site, MPSGraphTensor* tensor, std::function<Value(Value)> function);
/// The same for a function that integers have too, wrapping around.
MPSGraphTensor* add_unary(const Site& site, MPSGraphTensor* tensor, std::function<Value(Value)> function,
                          std::function<__int128(__int128)> integer_function);

/// result = function(primary, secondary) with broadcasting, both of one type.
MPSGraphTensor* add_binary(const Site& site, MPSGraphTensor* primary, MPSGraphTensor* secondary,
                           std::function<Value(Value, Value)> function,
                           std::function<__int128(__int128, __int128)> integer_function);

/// Boolean result = function(primary, secondary) with broadcasting, both of one type.
MPSGraphTensor* add_comparison(const Site& site, MPSGraphTensor* primary, MPSGraphTensor* secondary,
                               std::function<bool(Value, Value)> function);

}  // namespace stand_in
