#pragma once

#include "cpu/pooling_slice.hpp"

namespace mpsgraph_native::cpu {

/// Gradient of average and L2-norm pooling: inputs are the gradient and the source.
Kernel make_pooling_gradient(const PoolingGeometry& geometry, PoolingReduction reduction, const KernelRequest& request);

/// Gradient of max pooling from the source: finds the maxima again.
Kernel make_maximum_pooling_gradient(const PoolingGeometry& geometry, const KernelRequest& request);

/// The same from indices, input 2. A run raises ShapeError for an index that leaves the destination, before it writes.
Kernel make_maximum_pooling_gradient_from_indices(std::string_view operation, const PoolingGeometry& geometry,
                                                  const KernelRequest& request);

}  // namespace mpsgraph_native::cpu
