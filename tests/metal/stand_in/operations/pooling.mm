#include "pooling_window.hpp"

#include <cmath>
#include <limits>

using namespace stand_in;

namespace {

/// Where the maximum of a window is; -1 where no tap lies inside the source.
struct Maximum {
  Value value = -std::numeric_limits<Value>::infinity();
  std::int64_t element = -1, index = -1;
};

/// The first maximum wins, the first NaN over numbers.
Maximum maximum_of(const PoolingWindow& window, const Values& x, std::int64_t n, const PoolingWindow::Position& o) {
  Maximum best;
  window.each_tap(n, o, [&](std::size_t element, const auto& p, const auto& j) {
    const Value value = x[element];
    if (best.element >= 0 && (std::isnan(best.value) || !(std::isnan(value) || value > best.value))) return;
    best = {value, static_cast<std::int64_t>(element), window.index(p, j)};
  });
  return best;
}

NSArray<MPSGraphTensor*>* add_max(const Site& site, MPSGraphTensor* source, const PoolingWindow& window) {
  return site.add({source}, {{window.result, site.floating_type({source})}}, [window](const Operands& in) {
    Values y = zeros(count(window.result));
    window.each_output([&](std::size_t number, std::int64_t n, const auto& o) {
      y[number] = maximum_of(window, in[0].values, n, o).value;
    });
    return std::vector<Values>{y};
  });
}

NSArray<MPSGraphTensor*>* add_max_with_indices(const Site& site, MPSGraphTensor* source, const PoolingWindow& window) {
  site.require(window.mode != MPSGraphPoolingReturnIndicesNone, "returnIndicesMode is None");
  // As reported where the clipped and the unclipped size differ.
  site.require(!window.rounds_up_padded, "ceilMode is set together with paddings");
  // Users report wrong global indices where a pad operation in front is folded into the pooling.
  const bool folds_pad = !window.local() && produced_by(source, "pad");
  return site.add({source}, {{window.result, site.floating_type({source})}, {window.result, MPSDataTypeInt32}},
                  [window, folds_pad](const Operands& in) {
                    Values y = zeros(count(window.result)), indices = zeros(count(window.result));
                    window.each_output([&](std::size_t number, std::int64_t n, const auto& o) {
                      const Maximum best = maximum_of(window, in[0].values, n, o);
                      y[number] = best.value;
                      indices[number] = best.index + (folds_pad ? 1 : 0);
                    });
                    return std::vector<Values>{y, indices};
                  });
}

NSArray<MPSGraphTensor*>* add_average(const Site& site, MPSGraphTensor* source, const PoolingWindow& window) {
  return site.add({source}, {{window.result, site.floating_type({source})}}, [window](const Operands& in) {
    Values y = zeros(count(window.result));
    std::int64_t taps = 1;
    for (const WindowAxis& axis : window.axes) taps *= axis.kernel;
    window.each_output([&](std::size_t number, std::int64_t n, const auto& o) {
      std::int64_t inside = 0;
      window.each_tap(n, o, [&](std::size_t element, const auto&, const auto&) {
        y[number] += in[0].values[element];
        ++inside;
      });
      if (inside > 0) y[number] /= window.include_padding ? taps : inside;
    });
    return std::vector<Values>{y};
  });
}

void check_gradient(const Site& site, MPSGraphTensor* gradient, const PoolingWindow& window) {
  site.require(site.shape(gradient) == window.result, "the gradient does not have the shape of the forward result");
}

MPSGraphTensor* add_average_gradient(const Site& site, MPSGraphTensor* gradient, MPSGraphTensor* source,
                                     const PoolingWindow& window) {
  check_gradient(site, gradient, window);
  return site.add_one(
      {gradient, source}, {window.source, site.floating_type({gradient, source})}, [window](const Operands& in) {
        Values dx = zeros(count(window.source));
        std::int64_t taps = 1;
        for (const WindowAxis& axis : window.axes) taps *= axis.kernel;
        window.each_output([&](std::size_t number, std::int64_t n, const auto& o) {
          std::int64_t inside = 0;
          window.each_tap(n, o, [&](std::size_t, const auto&, const auto&) { ++inside; });
          const Value share = in[0].values[number] / (window.include_padding ? taps : inside);
          window.each_tap(n, o, [&](std::size_t element, const auto&, const auto&) { dx[element] += share; });
        });
        return dx;
      });
}

MPSGraphTensor* add_max_gradient(const Site& site, MPSGraphTensor* gradient, MPSGraphTensor* source,
                                 const PoolingWindow& window) {
  check_gradient(site, gradient, window);
  // Users report a misplaced gradient where a transpose made the incoming one.
  const bool misplaced = is_view(gradient);
  return site.add_one({gradient, source}, {window.source, site.floating_type({gradient, source})},
                      [window, misplaced](const Operands& in) {
                        Values dx = zeros(count(window.source));
                        const std::size_t shift = misplaced ? 1 : 0;
                        window.each_output([&](std::size_t number, std::int64_t n, const auto& o) {
                          const Maximum best = maximum_of(window, in[1].values, n, o);
                          if (best.element < 0) return;
                          dx[(static_cast<std::size_t>(best.element) + shift) % dx.size()] += in[0].values[number];
                        });
                        return dx;
                      });
}

MPSGraphTensor* add_max_gradient_from_indices(const Site& site, MPSGraphTensor* gradient, MPSGraphTensor* indices,
                                              const PoolingWindow& window) {
  check_gradient(site, gradient, window);
  site.require(site.shape(indices) == window.result, "the indices do not have the shape of the forward result");
  site.require(indices.dataType == MPSDataTypeInt32, "the indices are not of type Int32");
  site.require(window.mode != MPSGraphPoolingReturnIndicesNone, "returnIndicesMode is None");
  site.require(!window.rounds_up_padded, "ceilMode is set together with paddings");
  // Users report a crash in the setup that misplaces the other form.
  site.require(!is_view(gradient), "the gradient is a view");
  for (std::size_t i = 0; i < 4 - window.flattened(); ++i)
    site.require(window.axes[i].kernel == 1, "returnIndicesMode leaves out a pooled dimension");
  return site.add_one({gradient, indices}, {window.source, site.floating_type({gradient})},
                      [operation = site.operation, window](const Operands& in) {
                        const Site site{nil, operation};  // a node that held its graph would leak both
                        Values dx = zeros(count(window.source));
                        window.each_output([&](std::size_t number, std::int64_t n, const auto& o) {
                          const std::int64_t index = static_cast<std::int64_t>(in[1].values[number]);
                          if (index == -1) return;
                          site.require(index >= 0, "an index is negative");
                          dx[window.decoded(site, index, n, o)] += in[0].values[number];
                        });
                        return dx;
                      });
}

MPSGraphTensor* add_l2_norm(const Site& site, MPSGraphTensor* source, const PoolingWindow& window) {
  return site.add_one({source}, {window.result, site.floating_type({source})}, [window](const Operands& in) {
    Values y = zeros(count(window.result));
    window.each_output([&](std::size_t number, std::int64_t n, const auto& o) {
      window.each_tap(n, o, [&](std::size_t element, const auto&, const auto&) {
        y[number] += in[0].values[element] * in[0].values[element];
      });
      y[number] = std::sqrt(y[number]);
    });
    return y;
  });
}

MPSGraphTensor* add_l2_norm_gradient(const Site& site, MPSGraphTensor* gradient, MPSGraphTensor* source,
                                     const PoolingWindow& window) {
  check_gradient(site, gradient, window);
  return site.add_one(
      {gradient, source}, {window.source, site.floating_type({gradient, source})}, [window](const Operands& in) {
        const Values& x = in[1].values;
        Values dx = zeros(count(window.source));
        window.each_output([&](std::size_t number, std::int64_t n, const auto& o) {
          Value squares = 0;
          window.each_tap(n, o,
                          [&](std::size_t element, const auto&, const auto&) { squares += x[element] * x[element]; });
          if (squares == 0) return;
          const Value scale = in[0].values[number] / std::sqrt(squares);
          window.each_tap(n, o,
                          [&](std::size_t element, const auto&, const auto&) { dx[element] += scale * x[element]; });
        });
        return dx;
      });
}

}  // namespace

@implementation MPSGraph (MPSGraphPoolingOps)
- (MPSGraphTensor*)maxPooling2DWithSourceTensor:(MPSGraphTensor*)source
                                     descriptor:(MPSGraphPooling2DOpDescriptor*)descriptor
                                           name:(NSString*)name {
  const Site site{self, "maxPooling2D"};
  return add_max(site, source, pooling_window(site, descriptor, site.shape(source))).firstObject;
}
- (NSArray<MPSGraphTensor*>*)maxPooling2DReturnIndicesWithSourceTensor:(MPSGraphTensor*)source
                                                            descriptor:(MPSGraphPooling2DOpDescriptor*)descriptor
                                                                  name:(NSString*)name {
  const Site site{self, "maxPooling2DReturnIndices"};
  return add_max_with_indices(site, source, pooling_window(site, descriptor, site.shape(source)));
}
- (MPSGraphTensor*)maxPooling2DGradientWithGradientTensor:(MPSGraphTensor*)gradient
                                             sourceTensor:(MPSGraphTensor*)source
                                               descriptor:(MPSGraphPooling2DOpDescriptor*)descriptor
                                                     name:(NSString*)name {
  const Site site{self, "maxPooling2DGradient"};
  return add_max_gradient(site, gradient, source, pooling_window(site, descriptor, site.shape(source)));
}
- (MPSGraphTensor*)maxPooling2DGradientWithGradientTensor:(MPSGraphTensor*)gradient
                                            indicesTensor:(MPSGraphTensor*)indices
                                              outputShape:(MPSShape*)outputShape
                                               descriptor:(MPSGraphPooling2DOpDescriptor*)descriptor
                                                     name:(NSString*)name {
  const Site site{self, "maxPooling2DGradient"};
  const Dims source = site.sizes(outputShape, 4, 1, "outputShape does not have 4 sizes");
  return add_max_gradient_from_indices(site, gradient, indices, pooling_window(site, descriptor, source));
}
- (MPSGraphTensor*)avgPooling2DWithSourceTensor:(MPSGraphTensor*)source
                                     descriptor:(MPSGraphPooling2DOpDescriptor*)descriptor
                                           name:(NSString*)name {
  const Site site{self, "avgPooling2D"};
  return add_average(site, source, pooling_window(site, descriptor, site.shape(source))).firstObject;
}
- (MPSGraphTensor*)avgPooling2DGradientWithGradientTensor:(MPSGraphTensor*)gradient
                                             sourceTensor:(MPSGraphTensor*)source
                                               descriptor:(MPSGraphPooling2DOpDescriptor*)descriptor
                                                     name:(NSString*)name {
  const Site site{self, "avgPooling2DGradient"};
  return add_average_gradient(site, gradient, source, pooling_window(site, descriptor, site.shape(source)));
}

- (MPSGraphTensor*)maxPooling4DWithSourceTensor:(MPSGraphTensor*)source
                                     descriptor:(MPSGraphPooling4DOpDescriptor*)descriptor
                                           name:(NSString*)name {
  const Site site{self, "maxPooling4D"};
  return add_max(site, source, pooling_window(site, descriptor, site.shape(source))).firstObject;
}
- (NSArray<MPSGraphTensor*>*)maxPooling4DReturnIndicesWithSourceTensor:(MPSGraphTensor*)source
                                                            descriptor:(MPSGraphPooling4DOpDescriptor*)descriptor
                                                                  name:(NSString*)name {
  const Site site{self, "maxPooling4DReturnIndices"};
  return add_max_with_indices(site, source, pooling_window(site, descriptor, site.shape(source)));
}
- (MPSGraphTensor*)maxPooling4DGradientWithGradientTensor:(MPSGraphTensor*)gradient
                                             sourceTensor:(MPSGraphTensor*)source
                                               descriptor:(MPSGraphPooling4DOpDescriptor*)descriptor
                                                     name:(NSString*)name {
  const Site site{self, "maxPooling4DGradient"};
  return add_max_gradient(site, gradient, source, pooling_window(site, descriptor, site.shape(source)));
}
- (MPSGraphTensor*)maxPooling4DGradientWithGradientTensor:(MPSGraphTensor*)gradient
                                            indicesTensor:(MPSGraphTensor*)indices
                                              outputShape:(MPSShape*)outputShape
                                               descriptor:(MPSGraphPooling4DOpDescriptor*)descriptor
                                                     name:(NSString*)name {
  const Site site{self, "maxPooling4DGradient"};
  const std::size_t rank = site.shape(gradient).size();
  const Dims source = site.sizes(outputShape, rank, 1, "outputShape does not have the gradient's rank");
  return add_max_gradient_from_indices(site, gradient, indices, pooling_window(site, descriptor, source));
}
- (MPSGraphTensor*)avgPooling4DWithSourceTensor:(MPSGraphTensor*)source
                                     descriptor:(MPSGraphPooling4DOpDescriptor*)descriptor
                                           name:(NSString*)name {
  const Site site{self, "avgPooling4D"};
  return add_average(site, source, pooling_window(site, descriptor, site.shape(source))).firstObject;
}
- (MPSGraphTensor*)avgPooling4DGradientWithGradientTensor:(MPSGraphTensor*)gradient
                                             sourceTensor:(MPSGraphTensor*)source
                                               descriptor:(MPSGraphPooling4DOpDescriptor*)descriptor
                                                     name:(NSString*)name {
  const Site site{self, "avgPooling4DGradient"};
  return add_average_gradient(site, gradient, source, pooling_window(site, descriptor, site.shape(source)));
}
- (MPSGraphTensor*)L2NormPooling4DWithSourceTensor:(MPSGraphTensor*)source
                                        descriptor:(MPSGraphPooling4DOpDescriptor*)descriptor
                                              name:(NSString*)name {
  const Site site{self, "L2NormPooling4D"};
  return add_l2_norm(site, source, pooling_window(site, descriptor, site.shape(source)));
}
- (MPSGraphTensor*)L2NormPooling4DGradientWithGradientTensor:(MPSGraphTensor*)gradient
                                                sourceTensor:(MPSGraphTensor*)source
                                                  descriptor:(MPSGraphPooling4DOpDescriptor*)descriptor
                                                        name:(NSString*)name {
  const Site site{self, "L2NormPooling4DGradient"};
  return add_l2_norm_gradient(site, gradient, source, pooling_window(site, descriptor, site.shape(source)));
}
@end
