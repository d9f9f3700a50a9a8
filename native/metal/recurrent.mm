#include "metal/lowerings.hpp"
#include "metal/tensors.hpp"

namespace mpsgraph_native::metal {
namespace {

MPSGraphRNNActivation activation(RNNActivation value) { return static_cast<MPSGraphRNNActivation>(value); }

// A backward descriptor is the forward one of a training run, whatever the caller set: the gradients read its state.

MPSGraphGRUDescriptor* make_descriptor(const GRUDescriptor& descriptor, bool training) {
  MPSGraphGRUDescriptor* result = [MPSGraphGRUDescriptor descriptor];
  result.reverse = descriptor.reverse;
  result.bidirectional = descriptor.bidirectional;
  result.training = training;
  result.resetGateFirst = descriptor.reset_gate_first;
  result.resetAfter = descriptor.reset_after;
  result.flipZ = descriptor.flip_z;
  result.updateGateActivation = activation(descriptor.update_gate_activation);
  result.resetGateActivation = activation(descriptor.reset_gate_activation);
  result.outputGateActivation = activation(descriptor.output_gate_activation);
  return result;
}

MPSGraphLSTMDescriptor* make_descriptor(const LSTMDescriptor& descriptor, bool training) {
  MPSGraphLSTMDescriptor* result = [MPSGraphLSTMDescriptor descriptor];
  result.reverse = descriptor.reverse;
  result.bidirectional = descriptor.bidirectional;
  // Apple's texts disagree on how many results training alone gives; with both there are three.
  result.produceCell = descriptor.produce_cell || training;
  result.training = training;
  result.forgetGateLast = descriptor.forget_gate_last;
  result.inputGateActivation = activation(descriptor.input_gate_activation);
  result.forgetGateActivation = activation(descriptor.forget_gate_activation);
  result.cellGateActivation = activation(descriptor.cell_gate_activation);
  result.outputGateActivation = activation(descriptor.output_gate_activation);
  result.activation = activation(descriptor.activation);
  return result;
}

MPSGraphSingleGateRNNDescriptor* make_descriptor(const SingleGateRNNDescriptor& descriptor, bool training) {
  MPSGraphSingleGateRNNDescriptor* result = [MPSGraphSingleGateRNNDescriptor descriptor];
  result.reverse = descriptor.reverse;
  result.bidirectional = descriptor.bidirectional;
  result.training = training;
  result.activation = activation(descriptor.activation);
  return result;
}

/// The results in our order, each reshaped to its own type: MPSGraph gives those of vectors leading dimensions of 1.
Lowered results_of(std::string_view operation, const LoweringSite& site, NSArray<MPSGraphTensor*>* results,
                   std::size_t expected) {
  if (results.count != expected)
    throw CompileError(text(operation, ": MPSGraph must give ", expected, " results, got ", results.count));
  Lowered lowered;
  for (std::size_t i = 0; i < expected; ++i)
    lowered.push_back(reshaped(site.graph, results[i], site.output_types[i].shape));
  return lowered;
}

/// MPSGraph needs the gradient of the output; without one, the gradient of the final state alone counts.
MPSGraphTensor* source_gradient(const LoweringSite& site, std::size_t index, const TensorType& output) {
  return site.inputs[index] ? site.inputs[index] : filled(site.graph, 0, output);
}

/// [T, N, H] of all directions, from the z_state of `gates` gates.
TensorType output_type(const TensorType& z_state, std::int64_t gates) {
  TensorType type = z_state;
  type.shape[2] /= gates;
  return type;
}

}  // namespace

Lowered lower(const GRU& attributes, const LoweringSite& site) {
  const auto& in = site.inputs;
  NSArray<MPSGraphTensor*>* results =
      [site.graph GRUWithSourceTensor:in[0]
                      recurrentWeight:in[1]
                          inputWeight:in[2]
                                 bias:in[3]
                            initState:in[4]
                                 mask:in[5]
                        secondaryBias:attributes.descriptor.reset_after ? in[6] : nil
                           descriptor:make_descriptor(attributes.descriptor, attributes.descriptor.training)
                                 name:nil];
  return results_of(attributes.name, site, results, site.output_types.size());
}

Lowered lower(const GRUGradients& attributes, const LoweringSite& site) {
  const auto& in = site.inputs;
  MPSGraphTensor* secondary_bias = attributes.descriptor.reset_after ? in[10] : nil;
  NSArray<MPSGraphTensor*>* results =
      [site.graph GRUGradientsWithSourceTensor:in[0]
                               recurrentWeight:in[1]
                                sourceGradient:source_gradient(site, 2, output_type(*site.input_types[3], 3))
                                        zState:in[3]
                                     outputFwd:in[4]
                                 stateGradient:in[5]
                                   inputWeight:in[6]
                                          bias:in[7]
                                     initState:in[8]
                                          mask:in[9]
                                 secondaryBias:secondary_bias
                                    descriptor:make_descriptor(attributes.descriptor, true)
                                          name:nil];
  const bool unused = in[10] && !secondary_bias;  // it is the last result
  Lowered lowered = results_of(attributes.name, site, results, site.output_types.size() - (unused ? 1 : 0));
  if (unused) lowered.push_back(filled(site.graph, 0, site.output_types.back()));
  return lowered;
}

Lowered lower(const LSTM& attributes, const LoweringSite& site) {
  const auto& in = site.inputs;
  NSArray<MPSGraphTensor*>* results =
      [site.graph LSTMWithSourceTensor:in[0]
                       recurrentWeight:in[1]
                           inputWeight:in[2]
                                  bias:in[3]
                             initState:in[4]
                              initCell:in[5]
                                  mask:in[6]
                              peephole:in[7]
                            descriptor:make_descriptor(attributes.descriptor, attributes.descriptor.training)
                                  name:nil];
  return results_of(attributes.name, site, results, site.output_types.size());
}

Lowered lower(const LSTMGradients& attributes, const LoweringSite& site) {
  const auto& in = site.inputs;
  NSArray<MPSGraphTensor*>* results =
      [site.graph LSTMGradientsWithSourceTensor:in[0]
                                recurrentWeight:in[1]
                                 sourceGradient:source_gradient(site, 2, output_type(*site.input_types[3], 4))
                                         zState:in[3]
                                  cellOutputFwd:in[4]
                                  stateGradient:in[5]
                                   cellGradient:in[6]
                                    inputWeight:in[7]
                                           bias:in[8]
                                      initState:in[9]
                                       initCell:in[10]
                                           mask:in[11]
                                       peephole:in[12]
                                     descriptor:make_descriptor(attributes.descriptor, true)
                                           name:nil];
  return results_of(attributes.name, site, results, site.output_types.size());
}

Lowered lower(const SingleGateRNN& attributes, const LoweringSite& site) {
  const auto& in = site.inputs;
  NSArray<MPSGraphTensor*>* results =
      [site.graph singleGateRNNWithSourceTensor:in[0]
                                recurrentWeight:in[1]
                                    inputWeight:in[2]
                                           bias:in[3]
                                      initState:in[4]
                                           mask:in[5]
                                     descriptor:make_descriptor(attributes.descriptor, attributes.descriptor.training)
                                           name:nil];
  return results_of(attributes.name, site, results, site.output_types.size());
}

Lowered lower(const SingleGateRNNGradients& attributes, const LoweringSite& site) {
  const auto& in = site.inputs;
  NSArray<MPSGraphTensor*>* results =
      [site.graph singleGateRNNGradientsWithSourceTensor:in[0]
                                         recurrentWeight:in[1]
                                          sourceGradient:source_gradient(site, 2, output_type(*site.input_types[3], 1))
                                                  zState:in[3]
                                           stateGradient:in[4]
                                             inputWeight:in[5]
                                                    bias:in[6]
                                               initState:in[7]
                                                    mask:in[8]
                                              descriptor:make_descriptor(attributes.descriptor, true)
                                                    name:nil];
  return results_of(attributes.name, site, results, site.output_types.size());
}

}  // namespace mpsgraph_native::metal
