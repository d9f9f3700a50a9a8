#include "graph/recurrent.hpp"

namespace mpsgraph_native {
namespace {

/// The operands that the recurrent operations have in common; one that an operation does not have keeps `none`.
struct RecurrentOperands {
  static constexpr std::size_t none = static_cast<std::size_t>(-1);

  std::size_t source = none, recurrent_weight = none, input_weight = none, bias = none, init_state = none,
              init_cell = none, mask = none, secondary_bias = none, peephole = none, z_state = none,
              output_fwd = none, source_gradient = none, state_gradient = none, cell_gradient = none;

  explicit RecurrentOperands(std::span<const Argument> arguments) {
    const std::pair<std::string_view, std::size_t*> members[] = {
        {"source", &source}, {"recurrent_weight", &recurrent_weight}, {"input_weight", &input_weight},
        {"bias", &bias}, {"init_state", &init_state}, {"init_cell", &init_cell}, {"mask", &mask},
        {"secondary_bias", &secondary_bias}, {"peephole", &peephole}, {"z_state", &z_state},
        {"output_fwd", &output_fwd}, {"cell_output_fwd", &output_fwd}, {"source_gradient", &source_gradient},
        {"state_gradient", &state_gradient}, {"cell_gradient", &cell_gradient},
    };
    for (std::size_t i = 0; i < arguments.size(); ++i)
      for (const auto& [name, index] : members)
        if (arguments[i].name == name) *index = i;
  }
};

/// Checks every operand against the others; T, N, I and H come from source and recurrent_weight.
class RecurrentShapes {
 public:
  RecurrentShapes(const Operands& operands, std::span<const Argument> arguments, bool bidirectional,
                  std::int64_t gates)
      : operands_(operands), index_(arguments), directions_(bidirectional ? 2 : 1) {
    dtype_ = operands.common_floating();
    operands.require_rank(index_.source, 3, "[T, N, I]");
    const Shape& source = operands[index_.source].shape;
    steps_ = source[0];
    batch_ = source[1];
    check_recurrent_weight(gates);
    check_input_weight(source[2]);
    const std::string many = bidirectional ? "2 " : "";
    require(index_.bias, {gate_units_}, text("[", many, gates, "H]"));
    const Shape state{batch_, directions_ * units_};
    const std::string state_meaning = text("[N, ", many, "H]");
    for (const std::size_t index :
         {index_.init_state, index_.init_cell, index_.mask, index_.state_gradient, index_.cell_gradient})
      require(index, state, state_meaning);
    require(index_.secondary_bias, {directions_ * units_}, text("[", many, "H]"));
    if (bidirectional)
      require(index_.peephole, {2, gates * units_}, "[2, 4H]");
    else
      require(index_.peephole, {gates * units_}, "[4H]");
    require(index_.z_state, z_state().shape, text("[T, N, ", many, gates, "H]"));
    for (const std::size_t index : {index_.output_fwd, index_.source_gradient})
      require(index, output().shape, text("[T, N, ", many, "H]"));
  }

  /// The type of h, and of the cell.
  TensorType output() const { return {dtype_, {steps_, batch_, directions_ * units_}}; }
  TensorType z_state() const { return {dtype_, {steps_, batch_, gate_units_}}; }

  /// One gradient, of its own shape, for each differentiable operand that is present, in MPSGraph's order.
  ResultTypes gradients() const {
    if (!has(index_.source_gradient) && !has(index_.state_gradient) && !has(index_.cell_gradient))
      fail<ShapeError>(operands_.operation(), "source_gradient",
                       "is required when no gradient of the final state is given, got None");
    ResultTypes results;
    for (const std::size_t index : {index_.source, index_.recurrent_weight, index_.input_weight, index_.bias,
                                    index_.peephole, index_.init_state, index_.init_cell, index_.secondary_bias})
      if (has(index)) results.push_back(operands_[index]);
    return results;
  }

 private:
  bool has(std::size_t index) const { return index != RecurrentOperands::none && operands_.has(index); }

  void require(std::size_t index, const Shape& shape, std::string_view meaning) const {
    if (has(index)) operands_.require_shape(index, shape, meaning);
  }

  void check_recurrent_weight(std::int64_t gates) {
    const bool bidirectional = directions_ == 2;
    const std::string meaning = gates == 1 ? "[H, H]" : text("[", gates, "H, H]");
    operands_.require_rank(index_.recurrent_weight, bidirectional ? 3 : 2,
                           bidirectional ? text("[2, ", meaning.substr(1)) : meaning);
    const Shape& shape = operands_[index_.recurrent_weight].shape;
    units_ = shape[bidirectional ? 2 : 1];
    if (units_ == 0)
      fail<ShapeError>(operands_.operation(), operands_.name(index_.recurrent_weight),
                       "must have at least one unit, got shape ", shape);
    gate_units_ = directions_ * gates * units_;
    if (bidirectional)
      operands_.require_shape(index_.recurrent_weight, {2, gates * units_, units_}, text("[2, ", meaning.substr(1)));
    else
      operands_.require_shape(index_.recurrent_weight, {gates * units_, units_}, meaning);
  }

  void check_input_weight(std::int64_t input_size) const {
    if (has(index_.input_weight))
      operands_.require_shape(index_.input_weight, {gate_units_, input_size}, "[rows of all gates, I]");
    else if (input_size != gate_units_)
      fail<ShapeError>(operands_.operation(), "source", "must hold the pre-activations of all gates, ", gate_units_,
                       " channels, when input_weight is None, got shape ", operands_[index_.source].shape);
  }

  const Operands& operands_;
  RecurrentOperands index_;
  DataType dtype_;
  std::int64_t directions_;
  std::int64_t steps_, batch_, units_ = 0;
  std::int64_t gate_units_ = 0;  ///< of all gates and directions
};

template <class Operation>
RecurrentShapes shapes_of(const Operation& attributes, const Operands& operands, std::int64_t gates) {
  return RecurrentShapes(operands, Operation::arguments, attributes.descriptor.bidirectional, gates);
}

}  // namespace

ResultTypes infer(const GRU& attributes, const Operands& operands) {
  const RecurrentShapes shapes = shapes_of(attributes, operands, 3);
  ResultTypes results{shapes.output()};
  if (attributes.descriptor.training) results.push_back(shapes.z_state());
  return results;
}

ResultTypes infer(const LSTM& attributes, const Operands& operands) {
  const RecurrentShapes shapes = shapes_of(attributes, operands, 4);
  ResultTypes results{shapes.output()};
  if (attributes.descriptor.produce_cell || attributes.descriptor.training) results.push_back(shapes.output());
  if (attributes.descriptor.training) results.push_back(shapes.z_state());
  return results;
}

ResultTypes infer(const SingleGateRNN& attributes, const Operands& operands) {
  const RecurrentShapes shapes = shapes_of(attributes, operands, 1);
  ResultTypes results{shapes.output()};
  if (attributes.descriptor.training) results.push_back(shapes.z_state());
  return results;
}

ResultTypes infer(const GRUGradients& attributes, const Operands& operands) {
  return shapes_of(attributes, operands, 3).gradients();
}

ResultTypes infer(const LSTMGradients& attributes, const Operands& operands) {
  return shapes_of(attributes, operands, 4).gradients();
}

ResultTypes infer(const SingleGateRNNGradients& attributes, const Operands& operands) {
  return shapes_of(attributes, operands, 1).gradients();
}

}  // namespace mpsgraph_native
