#include "correlation.hpp"

#include <algorithm>

#include "../element.hpp"

namespace stand_in {
namespace {

/// Kernels of 256 taps and more along an axis come out wrong on Apple's framework, as users report.
constexpr std::int64_t kernel_limit = 256;

std::int64_t weight_tap(const WindowAxis& axis, std::int64_t tap) {
  return axis.kernel < kernel_limit ? tap : tap % (kernel_limit - 1);
}

/// Calls visit(result, source, weight) for each product that the forward operation sums.
template <class Visit>
void each_product(const Correlation& c, Visit visit) {
  const auto& [depth, height, width] = c.axes;
  const auto& source = c.source.spatial;
  const auto& result = c.result.spatial;
  const auto& weights = c.weights.spatial;
  for (std::int64_t n = 0; n < c.batch; ++n)
    for (std::int64_t group = 0; group < c.groups; ++group)
      for (std::int64_t m = 0; m < c.outputs; ++m)
        for (std::int64_t i = 0; i < c.inputs; ++i) {
          const std::int64_t in_result = n * c.result.batch + (group * c.outputs + m) * c.result.channel;
          const std::int64_t in_source = n * c.source.batch + (group * c.inputs + i) * c.source.channel;
          const std::int64_t in_weights = group * c.weights.group + m * c.weights.output + i * c.weights.input;
          for (std::int64_t oz = 0; oz < depth.output; ++oz)
            for (std::int64_t jz = 0; jz < depth.kernel; ++jz) {
              const std::int64_t z = depth.position(oz, jz);
              if (!depth.inside(z)) continue;
              for (std::int64_t oy = 0; oy < height.output; ++oy)
                for (std::int64_t jy = 0; jy < height.kernel; ++jy) {
                  const std::int64_t y = height.position(oy, jy);
                  if (!height.inside(y)) continue;
                  const std::int64_t result_row = in_result + oz * result[0] + oy * result[1];
                  const std::int64_t source_row = in_source + z * source[0] + y * source[1];
                  const std::int64_t weights_row =
                      in_weights + weight_tap(depth, jz) * weights[0] + weight_tap(height, jy) * weights[1];
                  for (std::int64_t jx = 0; jx < width.kernel; ++jx)
                    for (std::int64_t ox = 0; ox < width.output; ++ox) {
                      const std::int64_t x = width.position(ox, jx);
                      if (!width.inside(x)) continue;
                      visit(static_cast<std::size_t>(result_row + ox * result[2]),
                            static_cast<std::size_t>(source_row + x * source[2]),
                            static_cast<std::size_t>(weights_row + weight_tap(width, jx) * weights[2]));
                    }
                }
            }
        }
}

Values as_read(Values weights, bool view) {
  if (view) std::rotate(weights.begin(), weights.begin() + 1, weights.end());
  return weights;
}

}  // namespace

Values Correlation::forward(const Values& x, const Values& w) const {
  const Values kernel = as_read(w, weights_are_view);
  Values y = zeros(count(result_shape));
  each_product(*this, [&](std::size_t r, std::size_t s, std::size_t k) { y[r] += x[s] * kernel[k]; });
  return y;
}

Values Correlation::data_gradient(const Values& gradient, const Values& w) const {
  const Values kernel = as_read(w, weights_are_view);
  Values dx = zeros(count(source_shape));
  each_product(*this, [&](std::size_t r, std::size_t s, std::size_t k) { dx[s] += gradient[r] * kernel[k]; });
  return dx;
}

Values Correlation::weights_gradient(const Values& gradient, const Values& x, MPSDataType type) const {
  Values dw = zeros(count(weights_shape));
  if (type == MPSDataTypeFloat32)
    each_product(*this, [&](std::size_t r, std::size_t s, std::size_t k) { dw[k] += gradient[r] * x[s]; });
  else
    each_product(
        *this, [&](std::size_t r, std::size_t s, std::size_t k) { dw[k] = rounded(dw[k] + gradient[r] * x[s], type); });
  return dw;
}

}  // namespace stand_in
