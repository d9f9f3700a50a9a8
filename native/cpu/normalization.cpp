#include "cpu/kernels.hpp"
#include "cpu/reduction.hpp"

namespace mpsgraph_native::cpu {

Kernel make_kernel(const Mean& attributes, const KernelRequest& request) {
  const int rank = request.input(0).shape.rank();
  return make_reduction_kernel(ReductionFunction::Sum, resolve_axes({}, attributes.axes, attributes.all_axes, rank),
                               true, request);
}

}  // namespace mpsgraph_native::cpu
