#include "cpu/dispatch.hpp"
#include "cpu/kernels.hpp"
#include "cpu/partition.hpp"

namespace mpsgraph_native::cpu {

Kernel make_kernel(const StochasticGradientDescent&, const KernelRequest& request) {
  return for_floating(request.input(1).dtype, [&]<class T>(std::type_identity<T>) {
    return Kernel{.run = [elements = request.input(1).shape.elements()](const Invocation& invocation) {
      for_each_chunk(invocation, elements, default_grain, [&](std::int64_t begin, std::int64_t end) {
        kernels<T>().elementwise.gradient_descent(*invocation.input<T>(0), invocation.input<T>(1) + begin,
                                                  invocation.input<T>(2) + begin, end - begin,
                                                  invocation.output<T>(0) + begin);
      });
    }};
  });
}

}  // namespace mpsgraph_native::cpu
