#include "graph/types.hpp"

namespace mpsgraph_native {
namespace {

constexpr std::string_view unknown_type = "unknown";

}  // namespace

std::string_view name_of(DataType type) {
  switch (type) {
    case DataType::Float16: return "float16";
    case DataType::Float32: return "float32";
    case DataType::Float64: return "float64";
    case DataType::BFloat16: return "bfloat16";
    case DataType::Int8: return "int8";
    case DataType::Int16: return "int16";
    case DataType::Int32: return "int32";
    case DataType::Int64: return "int64";
    case DataType::UInt8: return "uint8";
    case DataType::UInt16: return "uint16";
    case DataType::UInt32: return "uint32";
    case DataType::UInt64: return "uint64";
    case DataType::Bool: return "bool";
  }
  return unknown_type;
}

bool is_known(DataType type) { return name_of(type) != unknown_type; }

void append(std::string& text, DataType type) { text += name_of(type); }

void Shape::refuse_rank() { throw ShapeError(text("shape has more than ", maximum_rank, " dimensions")); }

void Shape::push_back(std::int64_t dim) {
  if (rank_ == maximum_rank) refuse_rank();
  dims_[static_cast<std::size_t>(rank_++)] = dim;
}

std::int64_t Shape::elements() const {
  std::int64_t product = 1;
  for (const std::int64_t dim : *this) product *= dim;
  return product;
}

void append(std::string& text, const Shape& shape) {
  text += '(';
  for (int axis = 0; axis < shape.rank(); ++axis) text += mpsgraph_native::text(axis ? ", " : "", shape[axis]);
  text += shape.rank() == 1 ? ",)" : ")";
}

void check_size(const Shape& shape, std::string_view operation, std::string_view argument) {
  bool empty = false;
  for (const std::int64_t dim : shape) {
    if (dim < 0) fail<ShapeError>(operation, argument, "must have no negative dimension, got ", shape);
    if (dim > maximum_elements)
      fail<ShapeError>(operation, argument, "must have dimensions of at most 2**31 - 1, got ", shape);
    empty = empty || dim == 0;
  }
  if (empty) return;
  std::int64_t product = 1;
  for (const std::int64_t dim : shape) {
    product *= dim;  // both factors are below 2**31
    if (product > maximum_elements)
      fail<ShapeError>(operation, argument, "must have at most 2**31 - 1 elements, got ", shape);
  }
}

std::size_t hash_of(const Shape& shape) {
  std::size_t seed = static_cast<std::size_t>(shape.rank());
  for (const std::int64_t dim : shape) seed = hash_combine(seed, static_cast<std::size_t>(dim));
  return seed;
}

std::size_t hash_of(const TensorType& type) {
  return hash_combine(hash_of(type.shape), static_cast<std::size_t>(type.dtype));
}

}  // namespace mpsgraph_native
