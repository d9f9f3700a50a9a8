#pragma once

#include "graph/attributes.hpp"
#include "graph/operands.hpp"

namespace mpsgraph_native {

struct Reshape {
  static constexpr std::string_view name = "reshape";
  static constexpr std::array<Argument, 1> arguments{{{"tensor"}}};
  Shape shape;  ///< one dimension may be -1

  friend bool operator==(const Reshape&, const Reshape&) = default;
  template <class Self, class Visitor>
  static void fields(Self& self, Visitor&& visit) {
    visit("shape", self.shape);
  }
};

struct Transpose {
  static constexpr std::string_view name = "transpose";
  static constexpr std::array<Argument, 1> arguments{{{"tensor"}}};
  Shape permutation;

  friend bool operator==(const Transpose&, const Transpose&) = default;
  template <class Self, class Visitor>
  static void fields(Self& self, Visitor&& visit) {
    visit("permutation", self.permutation);
  }
};

struct Broadcast {
  static constexpr std::string_view name = "broadcast";
  static constexpr std::array<Argument, 1> arguments{{{"tensor"}}};
  Shape shape;

  friend bool operator==(const Broadcast&, const Broadcast&) = default;
  template <class Self, class Visitor>
  static void fields(Self& self, Visitor&& visit) {
    visit("shape", self.shape);
  }
};

struct Cast {
  static constexpr std::string_view name = "cast";
  static constexpr std::array<Argument, 1> arguments{{{"tensor"}}};
  DataType dtype = DataType::Float32;

  friend bool operator==(const Cast&, const Cast&) = default;
  template <class Self, class Visitor>
  static void fields(Self& self, Visitor&& visit) {
    visit("dtype", self.dtype);
  }
};

/// One start, end and positive stride per dimension; negative starts and ends count from the end. No strides: all 1.
struct Slice {
  static constexpr std::string_view name = "slice";
  static constexpr std::array<Argument, 1> arguments{{{"tensor"}}};
  Shape starts;
  Shape ends;
  Shape strides;

  friend bool operator==(const Slice&, const Slice&) = default;
  template <class Self, class Visitor>
  static void fields(Self& self, Visitor&& visit) {
    visit("starts", self.starts);
    visit("ends", self.ends);
    visit("strides", self.strides);
  }
};

/// Zeros of shape `fwd_in_shape` with the gradient written where the slice read.
struct SliceGradient {
  static constexpr std::string_view name = "slice_gradient";
  static constexpr std::array<Argument, 1> arguments{{{"input_gradient"}}};
  Shape fwd_in_shape;
  Shape starts;
  Shape ends;
  Shape strides;

  friend bool operator==(const SliceGradient&, const SliceGradient&) = default;
  template <class Self, class Visitor>
  static void fields(Self& self, Visitor&& visit) {
    visit("fwd_in_shape", self.fwd_in_shape);
    visit("starts", self.starts);
    visit("ends", self.ends);
    visit("strides", self.strides);
  }
};

/// What a slice takes of one axis: `count` elements from `start` on, `stride` apart.
struct SliceAxis {
  std::int64_t start, stride, count;
};

/// Raises ShapeError naming starts, ends or strides.
std::vector<SliceAxis> resolve_slice(std::string_view operation, const Shape& shape, const Shape& starts,
                                     const Shape& ends, const Shape& strides);

ResultTypes infer(const Reshape& attributes, const Operands& operands);
ResultTypes infer(const Transpose& attributes, const Operands& operands);
ResultTypes infer(const Broadcast& attributes, const Operands& operands);
ResultTypes infer(const Cast& attributes, const Operands& operands);
ResultTypes infer(const Slice& attributes, const Operands& operands);
ResultTypes infer(const SliceGradient& attributes, const Operands& operands);

}  // namespace mpsgraph_native
