#include "gru.hpp"

using namespace stand_in;

@implementation MPSGraphGRUDescriptor
+ (instancetype)descriptor {
  return [[self alloc] init];
}
- (instancetype)init {
  if ((self = [super init])) {
    self.updateGateActivation = self.resetGateActivation = MPSGraphRNNActivationSigmoid;
    self.outputGateActivation = MPSGraphRNNActivationTanh;
  }
  return self;
}
- (id)copyWithZone:(NSZone*)zone {
  MPSGraphGRUDescriptor* copy = [[self class] descriptor];
  copy.reverse = self.reverse;
  copy.bidirectional = self.bidirectional;
  copy.training = self.training;
  copy.resetGateFirst = self.resetGateFirst;
  copy.resetAfter = self.resetAfter;
  copy.flipZ = self.flipZ;
  copy.updateGateActivation = self.updateGateActivation;
  copy.resetGateActivation = self.resetGateActivation;
  copy.outputGateActivation = self.outputGateActivation;
  return copy;
}
@end

namespace {

Gru gru_of(const Site& site, const RecurrentTensors& tensors, MPSGraphTensor* secondary_bias,
           MPSGraphGRUDescriptor* descriptor) {
  site.require(descriptor != nil, "the descriptor is nil");
  Gru gru;
  gru.sizes = recurrence_of(site, tensors, 3, descriptor.bidirectional, descriptor.reverse);
  check_optional(site, secondary_bias, {gru.sizes.directions * gru.sizes.units}, "secondaryBias has another shape");
  gru.reset_after = descriptor.resetAfter;
  gru.flip_z = descriptor.flipZ;
  gru.update = descriptor.resetGateFirst ? 1 : 0;
  gru.reset = 1 - gru.update;
  gru.update_activation = descriptor.updateGateActivation;
  gru.reset_activation = descriptor.resetGateActivation;
  gru.output_activation = descriptor.outputGateActivation;
  site.require(valid(gru.update_activation) && valid(gru.reset_activation) && valid(gru.output_activation),
               "an activation is no member of its enumeration");
  return gru;
}

}  // namespace

@implementation MPSGraph (MPSGraphGRUOps)
- (NSArray<MPSGraphTensor*>*)GRUWithSourceTensor:(MPSGraphTensor*)source
                                 recurrentWeight:(MPSGraphTensor*)recurrentWeight
                                     inputWeight:(MPSGraphTensor*)inputWeight
                                            bias:(MPSGraphTensor*)bias
                                       initState:(MPSGraphTensor*)initState
                                            mask:(MPSGraphTensor*)mask
                                   secondaryBias:(MPSGraphTensor*)secondaryBias
                                      descriptor:(MPSGraphGRUDescriptor*)descriptor
                                            name:(NSString*)name {
  const Site site{self, "GRU"};
  const Gru gru =
      gru_of(site, {source, recurrentWeight, inputWeight, bias, initState, mask}, secondaryBias, descriptor);
  const MPSDataType type =
      site.floating_type({source, recurrentWeight, inputWeight, bias, initState, mask, secondaryBias});
  std::vector<TensorSpec> results{{gru.sizes.output_shape(), type}};
  if (descriptor.training) results.push_back({gru.sizes.gates_shape(), type});
  return site.add({source, recurrentWeight, inputWeight, bias, initState, mask, secondaryBias}, results,
                  [gru](const Operands& in) { return gru.forward(in); });
}
- (NSArray<MPSGraphTensor*>*)GRUWithSourceTensor:(MPSGraphTensor*)source
                                 recurrentWeight:(MPSGraphTensor*)recurrentWeight
                                     inputWeight:(MPSGraphTensor*)inputWeight
                                            bias:(MPSGraphTensor*)bias
                                       initState:(MPSGraphTensor*)initState
                                      descriptor:(MPSGraphGRUDescriptor*)descriptor
                                            name:(NSString*)name {
  return [self GRUWithSourceTensor:source
                   recurrentWeight:recurrentWeight
                       inputWeight:inputWeight
                              bias:bias
                         initState:initState
                              mask:nil
                     secondaryBias:nil
                        descriptor:descriptor
                              name:name];
}
- (NSArray<MPSGraphTensor*>*)GRUWithSourceTensor:(MPSGraphTensor*)source
                                 recurrentWeight:(MPSGraphTensor*)recurrentWeight
                                     inputWeight:(MPSGraphTensor*)inputWeight
                                            bias:(MPSGraphTensor*)bias
                                      descriptor:(MPSGraphGRUDescriptor*)descriptor
                                            name:(NSString*)name {
  return [self GRUWithSourceTensor:source
                   recurrentWeight:recurrentWeight
                       inputWeight:inputWeight
                              bias:bias
                         initState:nil
                        descriptor:descriptor
                              name:name];
}

- (NSArray<MPSGraphTensor*>*)GRUGradientsWithSourceTensor:(MPSGraphTensor*)source
                                          recurrentWeight:(MPSGraphTensor*)recurrentWeight
                                           sourceGradient:(MPSGraphTensor*)sourceGradient
                                                   zState:(MPSGraphTensor*)zState
                                                outputFwd:(MPSGraphTensor*)outputFwd
                                            stateGradient:(MPSGraphTensor*)stateGradient
                                              inputWeight:(MPSGraphTensor*)inputWeight
                                                     bias:(MPSGraphTensor*)bias
                                                initState:(MPSGraphTensor*)initState
                                                     mask:(MPSGraphTensor*)mask
                                            secondaryBias:(MPSGraphTensor*)secondaryBias
                                               descriptor:(MPSGraphGRUDescriptor*)descriptor
                                                     name:(NSString*)name {
  const Site site{self, "GRUGradients"};
  const Gru gru =
      gru_of(site, {source, recurrentWeight, inputWeight, bias, initState, mask}, secondaryBias, descriptor);
  site.require(descriptor.training, "training is not set");
  site.require(site.shape(sourceGradient) == gru.sizes.output_shape(), "sourceGradient has another shape");
  site.require(site.shape(zState) == gru.sizes.gates_shape(), "zState has another shape");
  site.require(site.shape(outputFwd) == gru.sizes.output_shape(), "outputFwd has another shape");
  check_optional(site, stateGradient, gru.sizes.state_shape(), "stateGradient has another shape");
  const MPSDataType type = site.floating_type({source, recurrentWeight, sourceGradient, zState, outputFwd,
                                               stateGradient, inputWeight, bias, initState, mask, secondaryBias});
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
  keep(secondaryBias, 5, true);
  return site.add({source, recurrentWeight, sourceGradient, zState, outputFwd, stateGradient, inputWeight, bias,
                   initState, mask, secondaryBias},
                  results, [gru, kept](const Operands& in) {
                    const std::vector<Values> all = gru.gradients(in);
                    std::vector<Values> chosen;
                    for (const std::size_t which : kept) chosen.push_back(all[which]);
                    return chosen;
                  });
}
- (NSArray<MPSGraphTensor*>*)GRUGradientsWithSourceTensor:(MPSGraphTensor*)source
                                          recurrentWeight:(MPSGraphTensor*)recurrentWeight
                                           sourceGradient:(MPSGraphTensor*)sourceGradient
                                                   zState:(MPSGraphTensor*)zState
                                                outputFwd:(MPSGraphTensor*)outputFwd
                                              inputWeight:(MPSGraphTensor*)inputWeight
                                                     bias:(MPSGraphTensor*)bias
                                                initState:(MPSGraphTensor*)initState
                                               descriptor:(MPSGraphGRUDescriptor*)descriptor
                                                     name:(NSString*)name {
  return [self GRUGradientsWithSourceTensor:source
                            recurrentWeight:recurrentWeight
                             sourceGradient:sourceGradient
                                     zState:zState
                                  outputFwd:outputFwd
                              stateGradient:nil
                                inputWeight:inputWeight
                                       bias:bias
                                  initState:initState
                                       mask:nil
                              secondaryBias:nil
                                 descriptor:descriptor
                                       name:name];
}
- (NSArray<MPSGraphTensor*>*)GRUGradientsWithSourceTensor:(MPSGraphTensor*)source
                                          recurrentWeight:(MPSGraphTensor*)recurrentWeight
                                           sourceGradient:(MPSGraphTensor*)sourceGradient
                                                   zState:(MPSGraphTensor*)zState
                                                outputFwd:(MPSGraphTensor*)outputFwd
                                              inputWeight:(MPSGraphTensor*)inputWeight
                                                     bias:(MPSGraphTensor*)bias
                                               descriptor:(MPSGraphGRUDescriptor*)descriptor
                                                     name:(NSString*)name {
  return [self GRUGradientsWithSourceTensor:source
                            recurrentWeight:recurrentWeight
                             sourceGradient:sourceGradient
                                     zState:zState
                                  outputFwd:outputFwd
                                inputWeight:inputWeight
                                       bias:bias
                                  initState:nil
                                 descriptor:descriptor
                                       name:name];
}
@end
