#pragma once

#include "cpu/kernel.hpp"
#include "cpu/loop_nest.hpp"

namespace mpsgraph_native::cpu {

/// Copies elements of any type between strided arrays. Where neighbours of the destination are far apart in the source
/// but those of another axis are adjacent there, it goes by square tiles. Destinations must not overlap.
class StridedCopy {
 public:
  /// Strides are in elements: of the destination first, then of the source.
  StridedCopy(std::size_t element_size, const LoopNest<2>& nest);

  void run(const Invocation& invocation, const void* source, void* destination) const;

 private:
  template <class T>
  void run_typed(const Invocation& invocation, const T* source, T* destination) const;
  template <class T>
  void copy_rows(const Invocation& invocation, const T* source, T* destination) const;
  template <class T>
  void transpose_tiles(const Invocation& invocation, const T* source, T* destination) const;

  std::size_t element_size_;
  std::int64_t elements_;
  bool by_tiles_ = false;
  LoopNest<2> outer_;
  LoopAxis<2> tile_columns_{1, {}};  ///< adjacent in the source
  LoopAxis<2> inner_;                ///< adjacent in the destination, when there is such an axis
};

/// A kernel whose result has the elements of its first operand in the same order.
Kernel make_copy_kernel(const TensorType& type);

}  // namespace mpsgraph_native::cpu
