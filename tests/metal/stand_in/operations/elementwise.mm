#include "elementwise.hpp"

namespace stand_in {
namespace {

void require_number(const Site& site, MPSGraphTensor* tensor) {
  site.require(is_floating(tensor.dataType) || is_integer(tensor.dataType), "a tensor is not of a number type");
}

Dims broadcast_shape(const Site& site, MPSGraphTensor* primary, MPSGraphTensor* secondary) {
  Dims shape;
  site.require(broadcast(site.shape(primary), site.shape(secondary), shape), "the shapes do not broadcast");
  site.require(primary.dataType == secondary.dataType, "the tensors differ in type");
  return shape;
}

}  // namespace

MPSGraphTensor* add_unary(const Site& site, MPSGraphTensor* tensor, std::function<Value(Value)> function) {
  const Dims shape = site.shape(tensor);
  return site.add_one({tensor}, {shape, site.floating_type({tensor})}, [function](const Operands& in) {
    Values values = in[0].values;
    for (Value& value : values) value = function(value);
    return values;
  });
}

MPSGraphTensor* add_unary(const Site& site, MPSGraphTensor* tensor, std::function<Value(Value)> function,
                          std::function<__int128(__int128)> integer_function) {
  const Dims shape = site.shape(tensor);
  require_number(site, tensor);
  if (is_floating(tensor.dataType)) return add_unary(site, tensor, function);
  return site.add_one({tensor}, {shape, tensor.dataType}, [integer_function](const Operands& in) {
    Values values = in[0].values;
    for (Value& value : values) value = wrapped(in[0].type, integer_function(static_cast<__int128>(value)));
    return values;
  });
}

MPSGraphTensor* add_binary(const Site& site, MPSGraphTensor* primary, MPSGraphTensor* secondary,
                           std::function<Value(Value, Value)> function,
                           std::function<__int128(__int128, __int128)> integer_function) {
  const Dims shape = broadcast_shape(site, primary, secondary);
  require_number(site, primary);
  const bool floating = is_floating(primary.dataType);
  return site.add_one({primary, secondary}, {shape, primary.dataType},
                      [shape, function, integer_function, floating](const Operands& in) {
                        Values a = expanded(in[0], shape);
                        const Values b = expanded(in[1], shape);
                        for (std::size_t i = 0; i < a.size(); ++i)
                          a[i] = floating ? function(a[i], b[i])
                                          : wrapped(in[0].type, integer_function(static_cast<__int128>(a[i]),
                                                                                 static_cast<__int128>(b[i])));
                        return a;
                      });
}

MPSGraphTensor* add_comparison(const Site& site, MPSGraphTensor* primary, MPSGraphTensor* secondary,
                               std::function<bool(Value, Value)> function) {
  const Dims shape = broadcast_shape(site, primary, secondary);
  return site.add_one({primary, secondary}, {shape, MPSDataTypeBool}, [shape, function](const Operands& in) {
    Values a = expanded(in[0], shape);
    const Values b = expanded(in[1], shape);
    for (std::size_t i = 0; i < a.size(); ++i) a[i] = function(a[i], b[i]) ? 1 : 0;
    return a;
  });
}

}  // namespace stand_in
