#include "metal/lowerings.hpp"
#include "metal/tensors.hpp"

namespace mpsgraph_native::metal {
namespace {

constexpr std::int64_t stretch = 16384;

MPSGraphTensor* multiplied(const LoweringSite& site, MPSGraphTensor* primary, MPSGraphTensor* secondary) {
  return [site.graph matrixMultiplicationWithPrimaryTensor:primary secondaryTensor:secondary name:nil];
}

/// The operand with its long axis filled up with zeros and split into [stretches, stretch].
MPSGraphTensor* split(const LoweringSite& site, std::size_t index, int axis, std::int64_t stretches, Shape& shape) {
  shape = site.input_types[index]->shape;
  Shape before = shape, after = shape, result;
  for (int i = 0; i < shape.rank(); ++i) before[i] = after[i] = 0;
  after[axis] = stretches * stretch - shape[axis];
  MPSGraphTensor* tensor = site.inputs[index];
  if (after[axis] > 0) tensor = padded(site.graph, tensor, before, after, 0);
  for (int i = 0; i < shape.rank(); ++i) {
    if (i == axis) result.push_back(stretches);
    result.push_back(i == axis ? stretch : shape[i]);
  }
  shape = result;
  check_intermediate(MatrixMultiplication::name, MatrixMultiplication::arguments[index].name,
                     {site.input_types[index]->dtype, shape});
  return reshaped(site.graph, tensor, shape);
}

/// One product for each stretch of the inner dimension, in a batch of its own; their sum is the result.
MPSGraphTensor* multiplied_by_stretches(const LoweringSite& site) {
  const Shape& result = site.output_types[0].shape;
  const int primary_rank = site.input_types[0]->shape.rank(), secondary_rank = site.input_types[1]->shape.rank();
  const std::int64_t depth = site.input_types[0]->shape[primary_rank - 1];
  const std::int64_t stretches = (depth + stretch - 1) / stretch;

  Shape products;
  for (int i = 0; i < result.rank(); ++i) {
    if (i == result.rank() - 2) products.push_back(stretches);
    products.push_back(result[i]);
  }
  check_intermediate(MatrixMultiplication::name, "primary", {DataType::Float32, products});

  Shape primary_shape, secondary_shape, permutation;
  MPSGraphTensor* primary = split(site, 0, primary_rank - 1, stretches, primary_shape);
  MPSGraphTensor* secondary = split(site, 1, secondary_rank - 2, stretches, secondary_shape);
  for (int i = 0; i <= primary_rank; ++i) permutation.push_back(i);
  std::swap(permutation[primary_rank - 2], permutation[primary_rank - 1]);  // rows behind stretches
  primary = transposed(site.graph, primary, permutation);

  const DataType dtype = site.output_types[0].dtype;
  MPSGraphTensor* partial = multiplied(site, primary, secondary);
  if (is_half(dtype)) partial = converted(site.graph, partial, DataType::Float32);
  const std::int64_t axis = result.rank() - 2;
  MPSGraphTensor* sum = [site.graph reductionSumWithTensor:partial axes:number_array({&axis, 1}) name:nil];
  if (is_half(dtype)) sum = converted(site.graph, sum, dtype);
  return reshaped(site.graph, sum, result);
}

}  // namespace

Lowered lower(const MatrixMultiplication& attributes, const LoweringSite& site) {
  if (concerned(Fault::LongInnerProduct, attributes, site)) return {multiplied_by_stretches(site)};
  return {multiplied(site, site.inputs[0], site.inputs[1])};
}

}  // namespace mpsgraph_native::metal
