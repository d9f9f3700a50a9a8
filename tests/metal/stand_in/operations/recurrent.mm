#include "recurrent.hpp"

#include <algorithm>
#include <cmath>

namespace stand_in {

Value activated(MPSGraphRNNActivation activation, Value a) {
  switch (activation) {
    case MPSGraphRNNActivationRelu: return a > 0 ? a : a * 0;
    case MPSGraphRNNActivationTanh: return std::tanh(a);
    case MPSGraphRNNActivationSigmoid: return 1 / (1 + std::exp(-a));
    case MPSGraphRNNActivationHardSigmoid: return std::isnan(a) ? a : std::clamp<Value>(a / 5 + Value(1) / 2, 0, 1);
    default: return a;
  }
}

Value activation_slope(MPSGraphRNNActivation activation, Value y) {
  switch (activation) {
    case MPSGraphRNNActivationRelu: return y > 0 ? 1 : 0;
    case MPSGraphRNNActivationTanh: return 1 - y * y;
    case MPSGraphRNNActivationSigmoid: return y * (1 - y);
    case MPSGraphRNNActivationHardSigmoid: return y > 0 && y < 1 ? Value(1) / 5 : 0;
    default: return 1;
  }
}

bool valid(MPSGraphRNNActivation activation) { return activation <= MPSGraphRNNActivationHardSigmoid; }

void check_optional(const Site& site, MPSGraphTensor* tensor, const Dims& shape, const char* reason) {
  if (tensor != nil) site.require(site.shape(tensor) == shape, reason);
}

Recurrence recurrence_of(const Site& site, const RecurrentTensors& tensors, std::int64_t gates, bool bidirectional,
                         bool reverse) {
  Recurrence r;
  r.gates = gates;
  r.directions = bidirectional ? 2 : 1;
  r.reverse = reverse;
  const Dims source = site.shape(tensors.source, 3, "the source is not of rank 3");
  r.steps = source[0];
  r.batch = source[1];
  const Dims weight = site.shape(tensors.recurrent_weight, bidirectional ? 3 : 2, "recurrentWeight has another rank");
  r.units = weight.back();
  site.require(weight[weight.size() - 2] == gates * r.units, "recurrentWeight does not have one row per gate and unit");
  site.require(!bidirectional || weight[0] == 2, "recurrentWeight does not have both directions");
  const std::int64_t rows = r.directions * gates * r.units;
  if (tensors.input_weight != nil) {
    r.inputs = source[2];
    check_optional(site, tensors.input_weight, {rows, r.inputs}, "inputWeight has another shape");
  } else {
    r.inputs = gates * r.units;
    site.require(source[2] == rows, "without inputWeight the source must have one channel per gate and unit");
  }
  check_optional(site, tensors.bias, {rows}, "bias has another shape");
  check_optional(site, tensors.init_state, r.state_shape(), "initState has another shape");
  check_optional(site, tensors.mask, r.state_shape(), "mask has another shape");
  return r;
}

Value from_source(const Recurrence& r, const HostTensor& x, const HostTensor& w, const HostTensor& b, std::int64_t t,
                  std::int64_t n, std::int64_t direction, std::int64_t row) {
  Value sum = b.present ? b.values[r.row(direction, row)] : 0;
  if (!w.present) return sum + x.values[r.at(t, n, direction, r.gates * r.units, row)];
  for (std::int64_t i = 0; i < r.inputs; ++i)
    sum += x.values[static_cast<std::size_t>((t * r.batch + n) * r.inputs + i)] * w.values[r.input(direction, row, i)];
  return sum;
}

Value from_state(const Recurrence& r, const HostTensor& weight, const Values& h, std::int64_t direction,
                 std::int64_t row) {
  Value sum = 0;
  for (std::int64_t k = 0; k < r.units; ++k)
    sum += h[static_cast<std::size_t>(k)] * weight.values[r.recurrent(direction, row, k)];
  return sum;
}

RecurrentGradients::RecurrentGradients(const Recurrence& r, const HostTensor& w) {
  const std::int64_t rows = r.directions * r.gates * r.units;
  source.resize(static_cast<std::size_t>(r.steps * r.batch * (w.present ? r.inputs : rows)), 0);
  recurrent_weight.resize(static_cast<std::size_t>(rows * r.units), 0);
  input_weight.resize(static_cast<std::size_t>(rows * r.inputs), 0);
  bias.resize(static_cast<std::size_t>(rows), 0);
}

void RecurrentGradients::add_step(const Recurrence& r, const HostTensor& x, const HostTensor& w, const Values& pre,
                                  std::int64_t t, std::int64_t n, std::int64_t direction) {
  for (std::int64_t row = 0; row < r.gates * r.units; ++row) {
    const Value gradient = pre[static_cast<std::size_t>(row)];
    bias[r.row(direction, row)] += gradient;
    if (!w.present) {
      source[r.at(t, n, direction, r.gates * r.units, row)] += gradient;
      continue;
    }
    for (std::int64_t i = 0; i < r.inputs; ++i) {
      const std::size_t element = static_cast<std::size_t>((t * r.batch + n) * r.inputs + i);
      source[element] += gradient * w.values[r.input(direction, row, i)];
      input_weight[r.input(direction, row, i)] += gradient * x.values[element];
    }
  }
}

Dims gradient_shape_of_bias(MPSGraphTensor* bias) {
  Dims shape = dims(bias.shape);
  shape.insert(shape.begin(), 3 - std::min<std::size_t>(shape.size(), 3), 1);
  return shape;
}

}  // namespace stand_in
