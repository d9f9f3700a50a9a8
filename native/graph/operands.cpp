#include "graph/operands.hpp"

namespace mpsgraph_native {

Operands::Operands(std::string_view operation, std::span<const Argument> arguments,
                   std::span<const TensorType* const> types)
    : operation_(operation), arguments_(arguments), types_(types) {
  if (types.size() != arguments.size())
    throw ShapeError(text(operation, ": takes ", arguments.size(), " tensors, got ", types.size()));
  for (std::size_t i = 0; i < types.size(); ++i) {
    if (types[i])
      check_size(types[i]->shape, operation, name(i));
    else if (arguments[i].required)
      fail<ShapeError>(operation, name(i), "is required, got None");
  }
}

DataType Operands::common_floating(std::span<const std::size_t> indices) const {
  const TensorType* first = nullptr;
  std::size_t first_index = 0;
  for (const std::size_t index : indices) {
    if (!has(index)) continue;
    const TensorType& type = (*this)[index];
    if (!is_floating(type.dtype))
      fail<DTypeError>(operation_, name(index), "must be float32, float16, bfloat16 or float64, got ", type.dtype);
    if (!first) {
      first = &type;
      first_index = index;
    } else if (type.dtype != first->dtype) {
      fail<DTypeError>(operation_, name(index), "must have the dtype of ", name(first_index), ", ", first->dtype,
                       ", got ", type.dtype);
    }
  }
  return first ? first->dtype : DataType::Float32;
}

DataType Operands::common_floating() const {
  std::vector<std::size_t> indices(types_.size());
  for (std::size_t i = 0; i < indices.size(); ++i) indices[i] = i;
  return common_floating(indices);
}

void Operands::require_rank(std::size_t index, int rank, std::string_view meaning) const {
  const Shape& shape = (*this)[index].shape;
  if (shape.rank() != rank)
    fail<ShapeError>(operation_, name(index), "must have rank ", rank, ", ", meaning, ", got shape ", shape);
}

void Operands::require_shape(std::size_t index, const Shape& expected, std::string_view meaning) const {
  const Shape& shape = (*this)[index].shape;
  if (!(shape == expected))
    fail<ShapeError>(operation_, name(index), "must have shape ", meaning, " = ", expected, ", got ", shape);
}

}  // namespace mpsgraph_native
