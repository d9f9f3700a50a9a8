#include "lstm.hpp"

using namespace stand_in;

@implementation MPSGraphLSTMDescriptor
+ (instancetype)descriptor {
  return [[self alloc] init];
}
- (instancetype)init {
  if ((self = [super init])) {
    self.inputGateActivation = self.forgetGateActivation = self.outputGateActivation = MPSGraphRNNActivationSigmoid;
    self.cellGateActivation = self.activation = MPSGraphRNNActivationTanh;
  }
  return self;
}
- (id)copyWithZone:(NSZone*)zone {
  MPSGraphLSTMDescriptor* copy = [[self class] descriptor];
  copy.reverse = self.reverse;
  copy.bidirectional = self.bidirectional;
  copy.produceCell = self.produceCell;
  copy.training = self.training;
  copy.forgetGateLast = self.forgetGateLast;
  copy.inputGateActivation = self.inputGateActivation;
  copy.forgetGateActivation = self.forgetGateActivation;
  copy.cellGateActivation = self.cellGateActivation;
  copy.outputGateActivation = self.outputGateActivation;
  copy.activation = self.activation;
  return copy;
}
@end

namespace {

Lstm lstm_of(const Site& site, const RecurrentTensors& tensors, MPSGraphTensor* init_cell, MPSGraphTensor* peephole,
             MPSGraphLSTMDescriptor* descriptor) {
  site.require(descriptor != nil, "the descriptor is nil");
  Lstm lstm;
  lstm.sizes = recurrence_of(site, tensors, 4, descriptor.bidirectional, descriptor.reverse);
  check_optional(site, init_cell, lstm.sizes.state_shape(), "initCell has another shape");
  const std::int64_t rows = 4 * lstm.sizes.units;
  check_optional(site, peephole, descriptor.bidirectional ? Dims{2, rows} : Dims{rows}, "peephole has another shape");
  lstm.forget = descriptor.forgetGateLast ? 2 : 1;
  lstm.cell = descriptor.forgetGateLast ? 1 : 2;
  lstm.gate_activations[lstm.input] = descriptor.inputGateActivation;
  lstm.gate_activations[lstm.forget] = descriptor.forgetGateActivation;
  lstm.gate_activations[lstm.cell] = descriptor.cellGateActivation;
  lstm.gate_activations[lstm.output] = descriptor.outputGateActivation;
  lstm.activation = descriptor.activation;
  bool all_valid = valid(lstm.activation);
  for (const MPSGraphRNNActivation activation : lstm.gate_activations) all_valid = all_valid && valid(activation);
  site.require(all_valid, "an activation is no member of its enumeration");
  return lstm;
}

}  // namespace

@implementation MPSGraph (MPSGraphLSTMOps)
- (NSArray<MPSGraphTensor*>*)LSTMWithSourceTensor:(MPSGraphTensor*)source
                                  recurrentWeight:(MPSGraphTensor*)recurrentWeight
                                      inputWeight:(MPSGraphTensor*)inputWeight
                                             bias:(MPSGraphTensor*)bias
                                        initState:(MPSGraphTensor*)initState
                                         initCell:(MPSGraphTensor*)initCell
                                             mask:(MPSGraphTensor*)mask
                                         peephole:(MPSGraphTensor*)peephole
                                       descriptor:(MPSGraphLSTMDescriptor*)descriptor
                                             name:(NSString*)name {
  const Site site{self, "LSTM"};
  const Lstm lstm =
      lstm_of(site, {source, recurrentWeight, inputWeight, bias, initState, mask}, initCell, peephole, descriptor);
  const MPSDataType type =
      site.floating_type({source, recurrentWeight, inputWeight, bias, initState, initCell, mask, peephole});
  std::vector<TensorSpec> results{{lstm.sizes.output_shape(), type}};
  if (descriptor.produceCell || descriptor.training) results.push_back({lstm.sizes.output_shape(), type});
  if (descriptor.training) results.push_back({lstm.sizes.gates_shape(), type});
  return site.add({source, recurrentWeight, inputWeight, bias, initState, initCell, mask, peephole}, results,
                  [lstm](const Operands& in) { return lstm.forward(in); });
}
- (NSArray<MPSGraphTensor*>*)LSTMWithSourceTensor:(MPSGraphTensor*)source
                                  recurrentWeight:(MPSGraphTensor*)recurrentWeight
                                      inputWeight:(MPSGraphTensor*)inputWeight
                                             bias:(MPSGraphTensor*)bias
                                        initState:(MPSGraphTensor*)initState
                                         initCell:(MPSGraphTensor*)initCell
                                       descriptor:(MPSGraphLSTMDescriptor*)descriptor
                                             name:(NSString*)name {
  return [self LSTMWithSourceTensor:source
                    recurrentWeight:recurrentWeight
                        inputWeight:inputWeight
                               bias:bias
                          initState:initState
                           initCell:initCell
                               mask:nil
                           peephole:nil
                         descriptor:descriptor
                               name:name];
}
- (NSArray<MPSGraphTensor*>*)LSTMWithSourceTensor:(MPSGraphTensor*)source
                                  recurrentWeight:(MPSGraphTensor*)recurrentWeight
                                        initState:(MPSGraphTensor*)initState
                                         initCell:(MPSGraphTensor*)initCell
                                       descriptor:(MPSGraphLSTMDescriptor*)descriptor
                                             name:(NSString*)name {
  return [self LSTMWithSourceTensor:source
                    recurrentWeight:recurrentWeight
                        inputWeight:nil
                               bias:nil
                          initState:initState
                           initCell:initCell
                         descriptor:descriptor
                               name:name];
}

- (NSArray<MPSGraphTensor*>*)LSTMGradientsWithSourceTensor:(MPSGraphTensor*)source
                                           recurrentWeight:(MPSGraphTensor*)recurrentWeight
                                            sourceGradient:(MPSGraphTensor*)sourceGradient
                                                    zState:(MPSGraphTensor*)zState
                                             cellOutputFwd:(MPSGraphTensor*)cellOutputFwd
                                             stateGradient:(MPSGraphTensor*)stateGradient
                                              cellGradient:(MPSGraphTensor*)cellGradient
                                               inputWeight:(MPSGraphTensor*)inputWeight
                                                      bias:(MPSGraphTensor*)bias
                                                 initState:(MPSGraphTensor*)initState
                                                  initCell:(MPSGraphTensor*)initCell
                                                      mask:(MPSGraphTensor*)mask
                                                  peephole:(MPSGraphTensor*)peephole
                                                descriptor:(MPSGraphLSTMDescriptor*)descriptor
                                                      name:(NSString*)name {
  const Site site{self, "LSTMGradients"};
  const Lstm lstm =
      lstm_of(site, {source, recurrentWeight, inputWeight, bias, initState, mask}, initCell, peephole, descriptor);
  site.require(descriptor.training, "training is not set");
  site.require(site.shape(sourceGradient) == lstm.sizes.output_shape(), "sourceGradient has another shape");
  site.require(site.shape(zState) == lstm.sizes.gates_shape(), "zState has another shape");
  site.require(site.shape(cellOutputFwd) == lstm.sizes.output_shape(), "cellOutputFwd has another shape");
  check_optional(site, stateGradient, lstm.sizes.state_shape(), "stateGradient has another shape");
  check_optional(site, cellGradient, lstm.sizes.state_shape(), "cellGradient has another shape");
  const MPSDataType type =
      site.floating_type({source, recurrentWeight, sourceGradient, zState, cellOutputFwd, stateGradient, cellGradient,
                          inputWeight, bias, initState, initCell, mask, peephole});
  std::vector<TensorSpec> results{{site.shape(source), type}, {site.shape(recurrentWeight), type}};
  std::vector<std::size_t> kept{0, 1};
  const auto keep = [&](MPSGraphTensor* tensor, std::size_t which, bool bias_like) {
    if (tensor == nil) return;
    results.push_back({bias_like ? gradient_shape_of_bias(tensor) : site.shape(tensor), type});
    kept.push_back(which);
  };
  keep(inputWeight, 2, false);
  keep(bias, 3, true);
  keep(peephole, 4, true);
  keep(initState, 5, false);
  keep(initCell, 6, false);
  return site.add({source, recurrentWeight, sourceGradient, zState, cellOutputFwd, stateGradient, cellGradient,
                   inputWeight, bias, initState, initCell, mask, peephole},
                  results, [lstm, kept](const Operands& in) {
                    const std::vector<Values> all = lstm.gradients(in);
                    std::vector<Values> chosen;
                    for (const std::size_t which : kept) chosen.push_back(all[which]);
                    return chosen;
                  });
}
- (NSArray<MPSGraphTensor*>*)LSTMGradientsWithSourceTensor:(MPSGraphTensor*)source
                                           recurrentWeight:(MPSGraphTensor*)recurrentWeight
                                            sourceGradient:(MPSGraphTensor*)sourceGradient
                                                    zState:(MPSGraphTensor*)zState
                                             cellOutputFwd:(MPSGraphTensor*)cellOutputFwd
                                               inputWeight:(MPSGraphTensor*)inputWeight
                                                      bias:(MPSGraphTensor*)bias
                                                 initState:(MPSGraphTensor*)initState
                                                  initCell:(MPSGraphTensor*)initCell
                                                      mask:(MPSGraphTensor*)mask
                                                descriptor:(MPSGraphLSTMDescriptor*)descriptor
                                                      name:(NSString*)name {
  return [self LSTMGradientsWithSourceTensor:source
                             recurrentWeight:recurrentWeight
                              sourceGradient:sourceGradient
                                      zState:zState
                               cellOutputFwd:cellOutputFwd
                               stateGradient:nil
                                cellGradient:nil
                                 inputWeight:inputWeight
                                        bias:bias
                                   initState:initState
                                    initCell:initCell
                                        mask:mask
                                    peephole:nil
                                  descriptor:descriptor
                                        name:name];
}
- (NSArray<MPSGraphTensor*>*)LSTMGradientsWithSourceTensor:(MPSGraphTensor*)source
                                           recurrentWeight:(MPSGraphTensor*)recurrentWeight
                                            sourceGradient:(MPSGraphTensor*)sourceGradient
                                                    zState:(MPSGraphTensor*)zState
                                             cellOutputFwd:(MPSGraphTensor*)cellOutputFwd
                                               inputWeight:(MPSGraphTensor*)inputWeight
                                                      bias:(MPSGraphTensor*)bias
                                                 initState:(MPSGraphTensor*)initState
                                                  initCell:(MPSGraphTensor*)initCell
                                                descriptor:(MPSGraphLSTMDescriptor*)descriptor
                                                      name:(NSString*)name {
  return [self LSTMGradientsWithSourceTensor:source
                             recurrentWeight:recurrentWeight
                              sourceGradient:sourceGradient
                                      zState:zState
                               cellOutputFwd:cellOutputFwd
                                 inputWeight:inputWeight
                                        bias:bias
                                   initState:initState
                                    initCell:initCell
                                        mask:nil
                                  descriptor:descriptor
                                        name:name];
}
- (NSArray<MPSGraphTensor*>*)LSTMGradientsWithSourceTensor:(MPSGraphTensor*)source
                                           recurrentWeight:(MPSGraphTensor*)recurrentWeight
                                            sourceGradient:(MPSGraphTensor*)sourceGradient
                                                    zState:(MPSGraphTensor*)zState
                                             cellOutputFwd:(MPSGraphTensor*)cellOutputFwd
                                                descriptor:(MPSGraphLSTMDescriptor*)descriptor
                                                      name:(NSString*)name {
  return [self LSTMGradientsWithSourceTensor:source
                             recurrentWeight:recurrentWeight
                              sourceGradient:sourceGradient
                                      zState:zState
                               cellOutputFwd:cellOutputFwd
                                 inputWeight:nil
                                        bias:nil
                                   initState:nil
                                    initCell:nil
                                  descriptor:descriptor
                                        name:name];
}
@end
