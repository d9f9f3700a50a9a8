#pragma once

#include "graph/attributes.hpp"
#include "graph/operands.hpp"

namespace mpsgraph_native {

/// MPSGraphGRUDescriptor.
struct GRUDescriptor {
  bool reverse = false;
  bool bidirectional = false;
  bool training = false;
  bool reset_gate_first = false;
  bool reset_after = false;
  bool flip_z = false;
  RNNActivation update_gate_activation = RNNActivation::Sigmoid;
  RNNActivation reset_gate_activation = RNNActivation::Sigmoid;
  RNNActivation output_gate_activation = RNNActivation::Tanh;

  friend bool operator==(const GRUDescriptor&, const GRUDescriptor&) = default;
  template <class Self, class Visitor>
  static void fields(Self& self, Visitor&& visit) {
    visit("reverse", self.reverse);
    visit("bidirectional", self.bidirectional);
    visit("training", self.training);
    visit("reset_gate_first", self.reset_gate_first);
    visit("reset_after", self.reset_after);
    visit("flip_z", self.flip_z);
    visit("update_gate_activation", self.update_gate_activation);
    visit("reset_gate_activation", self.reset_gate_activation);
    visit("output_gate_activation", self.output_gate_activation);
  }
};

/// MPSGraphLSTMDescriptor.
struct LSTMDescriptor {
  bool reverse = false;
  bool bidirectional = false;
  bool produce_cell = false;
  bool training = false;
  bool forget_gate_last = false;
  RNNActivation input_gate_activation = RNNActivation::Sigmoid;
  RNNActivation forget_gate_activation = RNNActivation::Sigmoid;
  RNNActivation cell_gate_activation = RNNActivation::Tanh;
  RNNActivation output_gate_activation = RNNActivation::Sigmoid;
  RNNActivation activation = RNNActivation::Tanh;

  friend bool operator==(const LSTMDescriptor&, const LSTMDescriptor&) = default;
  template <class Self, class Visitor>
  static void fields(Self& self, Visitor&& visit) {
    visit("reverse", self.reverse);
    visit("bidirectional", self.bidirectional);
    visit("produce_cell", self.produce_cell);
    visit("training", self.training);
    visit("forget_gate_last", self.forget_gate_last);
    visit("input_gate_activation", self.input_gate_activation);
    visit("forget_gate_activation", self.forget_gate_activation);
    visit("cell_gate_activation", self.cell_gate_activation);
    visit("output_gate_activation", self.output_gate_activation);
    visit("activation", self.activation);
  }
};

/// MPSGraphSingleGateRNNDescriptor.
struct SingleGateRNNDescriptor {
  bool reverse = false;
  bool bidirectional = false;
  bool training = false;
  RNNActivation activation = RNNActivation::Relu;

  friend bool operator==(const SingleGateRNNDescriptor&, const SingleGateRNNDescriptor&) = default;
  template <class Self, class Visitor>
  static void fields(Self& self, Visitor&& visit) {
    visit("reverse", self.reverse);
    visit("bidirectional", self.bidirectional);
    visit("training", self.training);
    visit("activation", self.activation);
  }
};

struct GRU {
  static constexpr std::string_view name = "gru";
  static constexpr std::array<Argument, 7> arguments{{{"source"},
                                                      {"recurrent_weight"},
                                                      {"input_weight", optional},
                                                      {"bias", optional},
                                                      {"init_state", optional},
                                                      {"mask", optional},
                                                      {"secondary_bias", optional}}};
  GRUDescriptor descriptor;

  friend bool operator==(const GRU&, const GRU&) = default;
  template <class Self, class Visitor>
  static void fields(Self& self, Visitor&& visit) {
    GRUDescriptor::fields(self.descriptor, visit);
  }
};

struct GRUGradients {
  static constexpr std::string_view name = "gru_gradients";
  static constexpr std::array<Argument, 11> arguments{{{"source"},
                                                       {"recurrent_weight"},
                                                       {"source_gradient", optional},
                                                       {"z_state"},
                                                       {"output_fwd"},
                                                       {"state_gradient", optional},
                                                       {"input_weight", optional},
                                                       {"bias", optional},
                                                       {"init_state", optional},
                                                       {"mask", optional},
                                                       {"secondary_bias", optional}}};
  GRUDescriptor descriptor;

  friend bool operator==(const GRUGradients&, const GRUGradients&) = default;
  template <class Self, class Visitor>
  static void fields(Self& self, Visitor&& visit) {
    GRUDescriptor::fields(self.descriptor, visit);
  }
};

struct LSTM {
  static constexpr std::string_view name = "lstm";
  static constexpr std::array<Argument, 8> arguments{{{"source"},
                                                      {"recurrent_weight"},
                                                      {"input_weight", optional},
                                                      {"bias", optional},
                                                      {"init_state", optional},
                                                      {"init_cell", optional},
                                                      {"mask", optional},
                                                      {"peephole", optional}}};
  LSTMDescriptor descriptor;

  friend bool operator==(const LSTM&, const LSTM&) = default;
  template <class Self, class Visitor>
  static void fields(Self& self, Visitor&& visit) {
    LSTMDescriptor::fields(self.descriptor, visit);
  }
};

struct LSTMGradients {
  static constexpr std::string_view name = "lstm_gradients";
  static constexpr std::array<Argument, 13> arguments{{{"source"},
                                                       {"recurrent_weight"},
                                                       {"source_gradient", optional},
                                                       {"z_state"},
                                                       {"cell_output_fwd"},
                                                       {"state_gradient", optional},
                                                       {"cell_gradient", optional},
                                                       {"input_weight", optional},
                                                       {"bias", optional},
                                                       {"init_state", optional},
                                                       {"init_cell", optional},
                                                       {"mask", optional},
                                                       {"peephole", optional}}};
  LSTMDescriptor descriptor;

  friend bool operator==(const LSTMGradients&, const LSTMGradients&) = default;
  template <class Self, class Visitor>
  static void fields(Self& self, Visitor&& visit) {
    LSTMDescriptor::fields(self.descriptor, visit);
  }
};

struct SingleGateRNN {
  static constexpr std::string_view name = "single_gate_rnn";
  static constexpr std::array<Argument, 6> arguments{{{"source"},
                                                      {"recurrent_weight"},
                                                      {"input_weight", optional},
                                                      {"bias", optional},
                                                      {"init_state", optional},
                                                      {"mask", optional}}};
  SingleGateRNNDescriptor descriptor;

  friend bool operator==(const SingleGateRNN&, const SingleGateRNN&) = default;
  template <class Self, class Visitor>
  static void fields(Self& self, Visitor&& visit) {
    SingleGateRNNDescriptor::fields(self.descriptor, visit);
  }
};

struct SingleGateRNNGradients {
  static constexpr std::string_view name = "single_gate_rnn_gradients";
  static constexpr std::array<Argument, 9> arguments{{{"source"},
                                                      {"recurrent_weight"},
                                                      {"source_gradient", optional},
                                                      {"z_state"},
                                                      {"state_gradient", optional},
                                                      {"input_weight", optional},
                                                      {"bias", optional},
                                                      {"init_state", optional},
                                                      {"mask", optional}}};
  SingleGateRNNDescriptor descriptor;

  friend bool operator==(const SingleGateRNNGradients&, const SingleGateRNNGradients&) = default;
  template <class Self, class Visitor>
  static void fields(Self& self, Visitor&& visit) {
    SingleGateRNNDescriptor::fields(self.descriptor, visit);
  }
};

ResultTypes infer(const GRU& attributes, const Operands& operands);
ResultTypes infer(const GRUGradients& attributes, const Operands& operands);
ResultTypes infer(const LSTM& attributes, const Operands& operands);
ResultTypes infer(const LSTMGradients& attributes, const Operands& operands);
ResultTypes infer(const SingleGateRNN& attributes, const Operands& operands);
ResultTypes infer(const SingleGateRNNGradients& attributes, const Operands& operands);

}  // namespace mpsgraph_native
