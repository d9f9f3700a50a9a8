#include "recurrent.hpp"

using namespace stand_in;

@implementation MPSGraphSingleGateRNNDescriptor
+ (instancetype)descriptor {
  return [[self alloc] init];
}
- (instancetype)init {
  if ((self = [super init])) self.activation = MPSGraphRNNActivationRelu;
  return self;
}
- (id)copyWithZone:(NSZone*)zone {
  MPSGraphSingleGateRNNDescriptor* copy = [[self class] descriptor];
  copy.reverse = self.reverse;
  copy.bidirectional = self.bidirectional;
  copy.training = self.training;
  copy.activation = self.activation;
  return copy;
}
@end

namespace {

/// Output and training state, which is the pre-activation.
std::vector<Values> forward(const Recurrence& s, MPSGraphRNNActivation activation, const Operands& in) {
  const HostTensor &x = in[0], &weight = in[1], &w = in[2], &bias = in[3], &init = in[4], &mask = in[5];
  const std::int64_t H = s.units;
  Values outputs = zeros(count(s.output_shape())), states = outputs;
  for (std::int64_t d = 0; d < s.directions; ++d)
    for (std::int64_t n = 0; n < s.batch; ++n) {
      Values h = zeros(H);
      for (std::int64_t u = 0; u < H; ++u)
        if (init.present) at(h, u) = init.values[s.state(n, d, u)];
      for (std::int64_t k = 0; k < s.steps; ++k) {
        const std::int64_t t = s.step(d, k);
        Values masked = h;
        for (std::int64_t u = 0; u < H; ++u)
          if (mask.present) at(masked, u) *= mask.values[s.state(n, d, u)];
        for (std::int64_t u = 0; u < H; ++u) {
          const Value z = from_source(s, x, w, bias, t, n, d, u) + from_state(s, weight, masked, d, u);
          at(h, u) = activated(activation, z);
          states[s.at(t, n, d, H, u)] = z;
          outputs[s.at(t, n, d, H, u)] = at(h, u);
        }
      }
    }
  return {outputs, states};
}

/// All five gradients: source, recurrent weight, input weight, bias, initial state.
std::vector<Values> gradients(const Recurrence& s, MPSGraphRNNActivation activation, const Operands& in) {
  const HostTensor &x = in[0], &weight = in[1], &dh = in[2], &states = in[3], &final = in[4], &w = in[5], &init = in[7],
                   &mask = in[8];
  const std::int64_t H = s.units;
  RecurrentGradients sums(s, w);
  Values d_init = zeros(count(s.state_shape()));
  for (std::int64_t d = 0; d < s.directions; ++d)
    for (std::int64_t n = 0; n < s.batch; ++n) {
      Values carry = zeros(H), m(static_cast<std::size_t>(H), 1);
      for (std::int64_t u = 0; u < H; ++u) {
        if (final.present) at(carry, u) = final.values[s.state(n, d, u)];
        if (mask.present) at(m, u) = mask.values[s.state(n, d, u)];
      }
      for (std::int64_t k = s.steps; k-- > 0;) {
        const std::int64_t t = s.step(d, k);
        Values before = zeros(H), pre = zeros(H), d_before = zeros(H);
        for (std::int64_t u = 0; u < H; ++u) {
          if (k > 0)
            at(before, u) = activated(activation, states.values[s.at(s.step(d, k - 1), n, d, H, u)]);
          else if (init.present)
            at(before, u) = init.values[s.state(n, d, u)];
          const Value h = activated(activation, states.values[s.at(t, n, d, H, u)]);
          at(pre, u) = (dh.values[s.at(t, n, d, H, u)] + at(carry, u)) * activation_slope(activation, h);
        }
        for (std::int64_t u = 0; u < H; ++u)
          for (std::int64_t v = 0; v < H; ++v) {
            sums.recurrent_weight[s.recurrent(d, u, v)] += at(pre, u) * at(before, v) * at(m, v);
            at(d_before, v) += at(pre, u) * weight.values[s.recurrent(d, u, v)] * at(m, v);
          }
        sums.add_step(s, x, w, pre, t, n, d);
        carry = d_before;
      }
      for (std::int64_t u = 0; u < H; ++u) d_init[s.state(n, d, u)] = at(carry, u);
    }
  return {sums.source, sums.recurrent_weight, sums.input_weight, sums.bias, d_init};
}

Recurrence sizes_of(const Site& site, const RecurrentTensors& tensors, MPSGraphSingleGateRNNDescriptor* descriptor) {
  site.require(descriptor != nil, "the descriptor is nil");
  site.require(valid(descriptor.activation), "the activation is no member of its enumeration");
  return recurrence_of(site, tensors, 1, descriptor.bidirectional, descriptor.reverse);
}

}  // namespace

@implementation MPSGraph (MPSGraphSingleGateRNNOps)
- (NSArray<MPSGraphTensor*>*)singleGateRNNWithSourceTensor:(MPSGraphTensor*)source
                                           recurrentWeight:(MPSGraphTensor*)recurrentWeight
                                               inputWeight:(MPSGraphTensor*)inputWeight
                                                      bias:(MPSGraphTensor*)bias
                                                 initState:(MPSGraphTensor*)initState
                                                      mask:(MPSGraphTensor*)mask
                                                descriptor:(MPSGraphSingleGateRNNDescriptor*)descriptor
                                                      name:(NSString*)name {
  const Site site{self, "singleGateRNN"};
  const Recurrence sizes = sizes_of(site, {source, recurrentWeight, inputWeight, bias, initState, mask}, descriptor);
  const MPSDataType type = site.floating_type({source, recurrentWeight, inputWeight, bias, initState, mask});
  std::vector<TensorSpec> results{{sizes.output_shape(), type}};
  if (descriptor.training) results.push_back({sizes.gates_shape(), type});
  return site.add(
      {source, recurrentWeight, inputWeight, bias, initState, mask}, results,
      [sizes, activation = descriptor.activation](const Operands& in) { return forward(sizes, activation, in); });
}
- (NSArray<MPSGraphTensor*>*)singleGateRNNWithSourceTensor:(MPSGraphTensor*)source
                                           recurrentWeight:(MPSGraphTensor*)recurrentWeight
                                               inputWeight:(MPSGraphTensor*)inputWeight
                                                      bias:(MPSGraphTensor*)bias
                                                 initState:(MPSGraphTensor*)initState
                                                descriptor:(MPSGraphSingleGateRNNDescriptor*)descriptor
                                                      name:(NSString*)name {
  return [self singleGateRNNWithSourceTensor:source
                             recurrentWeight:recurrentWeight
                                 inputWeight:inputWeight
                                        bias:bias
                                   initState:initState
                                        mask:nil
                                  descriptor:descriptor
                                        name:name];
}
- (NSArray<MPSGraphTensor*>*)singleGateRNNWithSourceTensor:(MPSGraphTensor*)source
                                           recurrentWeight:(MPSGraphTensor*)recurrentWeight
                                                 initState:(MPSGraphTensor*)initState
                                                descriptor:(MPSGraphSingleGateRNNDescriptor*)descriptor
                                                      name:(NSString*)name {
  return [self singleGateRNNWithSourceTensor:source
                             recurrentWeight:recurrentWeight
                                 inputWeight:nil
                                        bias:nil
                                   initState:initState
                                  descriptor:descriptor
                                        name:name];
}

- (NSArray<MPSGraphTensor*>*)singleGateRNNGradientsWithSourceTensor:(MPSGraphTensor*)source
                                                    recurrentWeight:(MPSGraphTensor*)recurrentWeight
                                                     sourceGradient:(MPSGraphTensor*)sourceGradient
                                                             zState:(MPSGraphTensor*)zState
                                                      stateGradient:(MPSGraphTensor*)stateGradient
                                                        inputWeight:(MPSGraphTensor*)inputWeight
                                                               bias:(MPSGraphTensor*)bias
                                                          initState:(MPSGraphTensor*)initState
                                                               mask:(MPSGraphTensor*)mask
                                                         descriptor:(MPSGraphSingleGateRNNDescriptor*)descriptor
                                                               name:(NSString*)name {
  const Site site{self, "singleGateRNNGradients"};
  const Recurrence sizes = sizes_of(site, {source, recurrentWeight, inputWeight, bias, initState, mask}, descriptor);
  site.require(descriptor.training, "training is not set");
  site.require(site.shape(sourceGradient) == sizes.output_shape(), "sourceGradient has another shape");
  site.require(site.shape(zState) == sizes.gates_shape(), "zState has another shape");
  check_optional(site, stateGradient, sizes.state_shape(), "stateGradient has another shape");
  const MPSDataType type = site.floating_type(
      {source, recurrentWeight, sourceGradient, zState, stateGradient, inputWeight, bias, initState, mask});
  std::vector<TensorSpec> results{{site.shape(source), type}, {site.shape(recurrentWeight), type}};
  std::vector<std::size_t> kept{0, 1};
  const auto keep = [&](MPSGraphTensor* tensor, std::size_t which, bool bias_like) {
    if (tensor == nil) return;
    results.push_back({bias_like ? gradient_shape_of_bias(tensor) : site.shape(tensor), type});
    kept.push_back(which);
  };
  keep(inputWeight, 2, false);
  keep(bias, 3, true);
  keep(initState, 4, false);
  return site.add({source, recurrentWeight, sourceGradient, zState, stateGradient, inputWeight, bias, initState, mask},
                  results, [sizes, activation = descriptor.activation, kept](const Operands& in) {
                    const std::vector<Values> all = gradients(sizes, activation, in);
                    std::vector<Values> chosen;
                    for (const std::size_t which : kept) chosen.push_back(all[which]);
                    return chosen;
                  });
}
- (NSArray<MPSGraphTensor*>*)singleGateRNNGradientsWithSourceTensor:(MPSGraphTensor*)source
                                                    recurrentWeight:(MPSGraphTensor*)recurrentWeight
                                                     sourceGradient:(MPSGraphTensor*)sourceGradient
                                                             zState:(MPSGraphTensor*)zState
                                                        inputWeight:(MPSGraphTensor*)inputWeight
                                                               bias:(MPSGraphTensor*)bias
                                                          initState:(MPSGraphTensor*)initState
                                                               mask:(MPSGraphTensor*)mask
                                                         descriptor:(MPSGraphSingleGateRNNDescriptor*)descriptor
                                                               name:(NSString*)name {
  return [self singleGateRNNGradientsWithSourceTensor:source
                                      recurrentWeight:recurrentWeight
                                       sourceGradient:sourceGradient
                                               zState:zState
                                        stateGradient:nil
                                          inputWeight:inputWeight
                                                 bias:bias
                                            initState:initState
                                                 mask:mask
                                           descriptor:descriptor
                                                 name:name];
}
- (NSArray<MPSGraphTensor*>*)singleGateRNNGradientsWithSourceTensor:(MPSGraphTensor*)source
                                                    recurrentWeight:(MPSGraphTensor*)recurrentWeight
                                                     sourceGradient:(MPSGraphTensor*)sourceGradient
                                                             zState:(MPSGraphTensor*)zState
                                                        inputWeight:(MPSGraphTensor*)inputWeight
                                                               bias:(MPSGraphTensor*)bias
                                                          initState:(MPSGraphTensor*)initState
                                                         descriptor:(MPSGraphSingleGateRNNDescriptor*)descriptor
                                                               name:(NSString*)name {
  return [self singleGateRNNGradientsWithSourceTensor:source
                                      recurrentWeight:recurrentWeight
                                       sourceGradient:sourceGradient
                                               zState:zState
                                          inputWeight:inputWeight
                                                 bias:bias
                                            initState:initState
                                                 mask:nil
                                           descriptor:descriptor
                                                 name:name];
}
- (NSArray<MPSGraphTensor*>*)singleGateRNNGradientsWithSourceTensor:(MPSGraphTensor*)source
                                                    recurrentWeight:(MPSGraphTensor*)recurrentWeight
                                                     sourceGradient:(MPSGraphTensor*)sourceGradient
                                                             zState:(MPSGraphTensor*)zState
                                                          initState:(MPSGraphTensor*)initState
                                                         descriptor:(MPSGraphSingleGateRNNDescriptor*)descriptor
                                                               name:(NSString*)name {
  return [self singleGateRNNGradientsWithSourceTensor:source
                                      recurrentWeight:recurrentWeight
                                       sourceGradient:sourceGradient
                                               zState:zState
                                          inputWeight:nil
                                                 bias:nil
                                            initState:initState
                                           descriptor:descriptor
                                                 name:name];
}
@end
