#pragma once

// Compile-time indices, for shuffles: <utility> would bring functions in that are no kernels.

namespace mpsgraph_native::cpu::MPSGRAPH_ISA {
namespace {

template <int... I>
struct Indices {};
template <int N, int... I>
struct IndicesBelow : IndicesBelow<N - 1, N - 1, I...> {};
template <int... I>
struct IndicesBelow<0, I...> {
  using type = Indices<I...>;
};

}  // namespace
}  // namespace mpsgraph_native::cpu::MPSGRAPH_ISA
