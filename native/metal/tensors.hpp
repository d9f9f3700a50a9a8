#pragma once

#include "metal/known_faults.hpp"
#include "metal/lowering.hpp"

namespace mpsgraph_native::metal {

// What lowerings compose results from. Shapes are those of the graph language, so rank 0 stands for [1].

NSArray<NSNumber*>* number_array(std::span<const std::int64_t> values);

MPSGraphTensor* reshaped(MPSGraph* graph, MPSGraphTensor* tensor, const Shape& shape);
MPSGraphTensor* converted(MPSGraph* graph, MPSGraphTensor* tensor, DataType dtype);
MPSGraphTensor* filled(MPSGraph* graph, double value, const TensorType& type);
/// Axis i of the result is axis permutation[i] of the tensor.
MPSGraphTensor* transposed(MPSGraph* graph, MPSGraphTensor* tensor, const Shape& permutation);
/// Elements start, start + stride, ... of every axis.
MPSGraphTensor* sliced(MPSGraph* graph, MPSGraphTensor* tensor, std::span<const SliceAxis> axes);
MPSGraphTensor* padded(MPSGraph* graph, MPSGraphTensor* tensor, const Shape& before, const Shape& after, double value);
/// The same elements in an array of their own, row-major, even if the tensor is a view of another.
MPSGraphTensor* copied(MPSGraph* graph, MPSGraphTensor* tensor, const Shape& shape);
/// A vector of int32 that is known when the graph is compiled.
MPSGraphTensor* int32_vector(MPSGraph* graph, const Shape& values);

/// Raises ShapeError when something that the caller does not see would pass what MPSGraph takes.
void check_intermediate(std::string_view operation, std::string_view argument, const TensorType& type);

/// Whether a known fault concerns the operation that is being lowered.
template <class Attributes>
bool concerned(Fault fault, const Attributes& attributes, const LoweringSite& site) {
  const Operation operation(attributes);
  return concerned(fault, FaultSite{operation, site.input_types, site.output_types, site.producers});
}

}  // namespace mpsgraph_native::metal
