#include "cpu/kernels.hpp"
#include "cpu/recurrent_plan.hpp"

namespace mpsgraph_native::cpu {
namespace {

/// What every cell's attributes and operand types tell alike.
template <class Attributes>
RecurrentProblem common_problem(const Attributes& attributes, const KernelRequest& request, RecurrentCell cell,
                                std::int64_t gate_count) {
  const RecurrentOperands operands(Attributes::arguments);
  const Shape& source = request.input(operands.source).shape;
  const Shape& recurrent_weight = request.input(operands.recurrent_weight).shape;
  return {.cell = cell,
          .gate_count = gate_count,
          .gates = {},
          .operands = operands,
          .reverse = attributes.descriptor.reverse,
          .training = attributes.descriptor.training,
          .directions = attributes.descriptor.bidirectional ? 2 : 1,
          .steps = source[0],
          .batch = source[1],
          .input_size = source[2],
          .units = recurrent_weight[recurrent_weight.rank() - 1],
          .dtype = request.input(operands.source).dtype};
}

template <class Attributes>
RecurrentProblem gru_problem(const Attributes& attributes, const KernelRequest& request) {
  const GRUDescriptor& descriptor = attributes.descriptor;
  RecurrentProblem problem = common_problem(
      attributes, request, descriptor.reset_after ? RecurrentCell::GRU : RecurrentCell::GRUResetBefore, 3);
  problem.gates = {.activation = {descriptor.update_gate_activation, descriptor.reset_gate_activation,
                                  descriptor.output_gate_activation},
                   .order = {descriptor.reset_gate_first ? 1 : 0, descriptor.reset_gate_first ? 0 : 1, 2},
                   .flip_z = descriptor.flip_z};
  return problem;
}

template <class Attributes>
RecurrentProblem lstm_problem(const Attributes& attributes, const KernelRequest& request) {
  const LSTMDescriptor& descriptor = attributes.descriptor;
  RecurrentProblem problem = common_problem(attributes, request, RecurrentCell::LSTM, 4);
  problem.gates = {.activation = {descriptor.input_gate_activation, descriptor.forget_gate_activation,
                                  descriptor.cell_gate_activation, descriptor.output_gate_activation},
                   .state_activation = descriptor.activation,
                   .order = {0, descriptor.forget_gate_last ? 2 : 1, descriptor.forget_gate_last ? 1 : 2, 3}};
  return problem;
}

template <class Attributes>
RecurrentProblem single_gate_problem(const Attributes& attributes, const KernelRequest& request) {
  RecurrentProblem problem = common_problem(attributes, request, RecurrentCell::SingleGate, 1);
  problem.gates.activation[0] = attributes.descriptor.activation;
  return problem;
}

/// The kernel with the operations of its matrix products, so many for each one of the forward pass.
Kernel counted(Kernel kernel, const RecurrentProblem& problem, const KernelRequest& request, int products) {
  const std::int64_t depth = problem.units + (request.has(problem.operands.input_weight) ? problem.input_size : 0);
  kernel.operations = 2.0 * products * static_cast<double>(problem.directions * problem.steps * problem.batch) *
                      static_cast<double>(problem.gate_count * problem.units) * static_cast<double>(depth);
  return kernel;
}

Kernel make_forward(const RecurrentProblem& problem, const KernelRequest& request) {
  return counted(make_recurrent_kernel(problem, request), problem, request, 1);
}

/// Of each forward product there is a gradient for either operand.
Kernel make_gradients(const RecurrentProblem& problem, const KernelRequest& request) {
  return counted(make_recurrent_gradients_kernel(problem, request), problem, request, 2);
}

}  // namespace

Kernel make_kernel(const GRU& attributes, const KernelRequest& request) {
  return make_forward(gru_problem(attributes, request), request);
}
Kernel make_kernel(const GRUGradients& attributes, const KernelRequest& request) {
  return make_gradients(gru_problem(attributes, request), request);
}
Kernel make_kernel(const LSTM& attributes, const KernelRequest& request) {
  return make_forward(lstm_problem(attributes, request), request);
}
Kernel make_kernel(const LSTMGradients& attributes, const KernelRequest& request) {
  return make_gradients(lstm_problem(attributes, request), request);
}
Kernel make_kernel(const SingleGateRNN& attributes, const KernelRequest& request) {
  return make_forward(single_gate_problem(attributes, request), request);
}
Kernel make_kernel(const SingleGateRNNGradients& attributes, const KernelRequest& request) {
  return make_gradients(single_gate_problem(attributes, request), request);
}

}  // namespace mpsgraph_native::cpu
