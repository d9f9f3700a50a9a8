#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>

#include "graph/error.hpp"
#include "graph/export.hpp"

namespace mpsgraph_native {

/// Element types, numbered as MPSDataType. Float64 is ours: Metal has none.
enum class DataType : std::uint32_t {
  Float16 = 0x10000010,
  Float32 = 0x10000020,
  Float64 = 0x10000040,
  BFloat16 = 0x90000010,
  Int8 = 0x20000008,
  Int16 = 0x20000010,
  Int32 = 0x20000020,
  Int64 = 0x20000040,
  UInt8 = 0x00000008,
  UInt16 = 0x00000010,
  UInt32 = 0x00000020,
  UInt64 = 0x00000040,
  Bool = 0x80000008,
};

constexpr std::size_t byte_size(DataType type) { return (static_cast<std::uint32_t>(type) & 0xff) / 8; }
constexpr bool is_floating(DataType type) { return (static_cast<std::uint32_t>(type) & 0x10000000) != 0; }
constexpr bool is_half(DataType type) { return type == DataType::Float16 || type == DataType::BFloat16; }
constexpr bool is_integer(DataType type) { return !is_floating(type) && type != DataType::Bool; }

/// NumPy's name of the type: "float32", "bfloat16", "int64", ...
MPSGRAPH_API std::string_view name_of(DataType type);
void append(std::string& text, DataType type);
/// Whether the number is one of the types.
bool is_known(DataType type);

/// MPSNDArray's own limits.
inline constexpr int maximum_rank = 16;
inline constexpr std::int64_t maximum_elements = 2147483647;

/// Dimensions, slowest first, held inline so that looking up a signature allocates nothing.
class MPSGRAPH_API Shape {
 public:
  Shape() = default;
  Shape(std::initializer_list<std::int64_t> dims) : Shape(std::span(dims.begin(), dims.size())) {}
  explicit Shape(std::span<const std::int64_t> dims) {
    if (dims.size() > dims_.size()) refuse_rank();
    rank_ = static_cast<int>(dims.size());
    std::copy(dims.begin(), dims.end(), dims_.begin());
  }

  int rank() const { return rank_; }
  bool empty() const { return rank_ == 0; }
  std::int64_t operator[](int axis) const { return dims_[static_cast<std::size_t>(axis)]; }
  std::int64_t& operator[](int axis) { return dims_[static_cast<std::size_t>(axis)]; }
  const std::int64_t* begin() const { return dims_.data(); }
  const std::int64_t* end() const { return dims_.data() + rank_; }
  void push_back(std::int64_t dim);

  /// Product of all dimensions; 1 for rank 0. Shapes that passed `check_size` cannot overflow.
  std::int64_t elements() const;

  friend bool operator==(const Shape& a, const Shape& b) {
    return a.rank_ == b.rank_ && std::equal(a.begin(), a.end(), b.begin());
  }

 private:
  [[noreturn]] static void refuse_rank();

  int rank_ = 0;
  std::array<std::int64_t, maximum_rank> dims_{};
};

/// As a Python tuple.
void append(std::string& text, const Shape& shape);

/// Raises ShapeError when a dimension is negative, or a dimension or the element count passes MPSGraph's limit.
void check_size(const Shape& shape, std::string_view operation, std::string_view argument);

struct TensorType {
  DataType dtype = DataType::Float32;
  Shape shape;

  std::size_t bytes() const { return static_cast<std::size_t>(shape.elements()) * byte_size(dtype); }
  friend bool operator==(const TensorType&, const TensorType&) = default;
};

/// Order-dependent mixing of one value into a running hash.
constexpr std::size_t hash_combine(std::size_t seed, std::size_t value) {
  return seed ^ (value + 0x9e3779b97f4a7c15ULL + (seed << 6) + (seed >> 2));
}

std::size_t hash_of(const Shape& shape);
std::size_t hash_of(const TensorType& type);

}  // namespace mpsgraph_native
