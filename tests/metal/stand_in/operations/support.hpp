#pragma once

#include <cstddef>
#include <initializer_list>
#include <string>

#include "../graph.hpp"

// A category of the stand-in has the methods that an engine calls, a declared one all of Apple's.
#pragma clang diagnostic ignored "-Wincomplete-implementation"

namespace stand_in {

using Dims = std::vector<std::int64_t>;
using Values = decltype(HostTensor::values);
using Value = Values::value_type;
using Operands = std::vector<HostTensor>;

std::int64_t count(const Dims& shape);
inline Values zeros(std::int64_t elements) { return Values(static_cast<std::size_t>(elements), 0); }

/// Row-major strides, in elements.
Dims strides_of(const Dims& shape);

bool is_floating(MPSDataType type);
bool is_integer(MPSDataType type);

/// NumPy's rule. False: they do not broadcast.
bool broadcast(const Dims& a, const Dims& b, Dims& result);

/// The elements of `tensor` as if it had the shape `shape`, to which it broadcasts.
Values expanded(const HostTensor& tensor, const Dims& shape);

/// True when `operation` of this stand-in made the tensor.
bool produced_by(MPSGraphTensor* tensor, const char* operation);
/// True for what the framework hands on without a copy of its own: the result of a transpose, slice or broadcast, or a
/// reshape of one. Users report that operations read some of these wrongly.
bool is_view(MPSGraphTensor* tensor);

/// The elements of a constant.
bool constant_value(MPSGraphTensor* tensor, Values& values);

/// An integer result, wrapped around to its type.
Value wrapped(MPSDataType type, __int128 value);

/// Where a method of MPSGraph was called: what every one of them checks, and how it adds its node.
struct Site {
  MPSGraph* graph;
  const char* operation;

  void require(bool holds, const char* reason) const {
    if (!holds) assertion_failure(operation, reason);
  }

  /// The shape of a tensor that must be there.
  Dims shape(MPSGraphTensor* tensor) const;
  Dims shape(MPSGraphTensor* tensor, std::size_t rank, const char* reason) const;

  /// The one floating type of the tensors, of which nil ones are absent.
  MPSDataType floating_type(std::initializer_list<MPSGraphTensor*> tensors) const;

  /// An axis in [0, rank), counted from the end where negative.
  std::size_t axis(NSInteger axis, std::size_t rank) const;

  /// Sizes from an array argument, each at least `minimum`.
  Dims sizes(NSArray<NSNumber*>* array, std::size_t length, std::int64_t minimum, const char* reason) const;

  void check_size(const Dims& shape) const;

  NSArray<MPSGraphTensor*>* add(std::vector<MPSGraphTensor*> inputs, std::vector<TensorSpec> results,
                                std::function<std::vector<Values>(const Operands&)> compute) const;
  MPSGraphTensor* add_one(std::vector<MPSGraphTensor*> inputs, TensorSpec result,
                          std::function<Values(const Operands&)> compute) const;
};

}  // namespace stand_in
