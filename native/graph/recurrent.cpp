#include "graph/recurrent.hpp"

#include <string>

#include "graph/recurrent_operands.hpp"

namespace mpsgraph_native {
namespace {

/// "H", "3H", ...: how a message spells a multiple of the units.
std::string units(std::int64_t multiple) { return multiple == 1 ? "H" : text(multiple, "H"); }

/// Checks every operand against the others; T, N, I and H come from source and recurrent_weight.
class RecurrentShapes {
 public:
  RecurrentShapes(const Operands& operands, std::span<const Argument> arguments, bool bidirectional, std::int64_t gates)
      : operands_(operands), index_(arguments), directions_(bidirectional ? 2 : 1) {
    dtype_ = operands.common_floating();
    operands.require_rank(index_.source, 3, "[T, N, I]");
    const Shape& source = operands[index_.source].shape;
    steps_ = source[0];
    batch_ = source[1];
    check_recurrent_weight(gates);
    check_input_weight(source[2]);
    require(index_.bias, {gate_units_}, text("[", units(directions_ * gates), "]"));
    const Shape state{batch_, directions_ * units_};
    const std::string state_meaning = text("[N, ", units(directions_), "]");
    for (const std::size_t index :
         {index_.init_state, index_.init_cell, index_.mask, index_.state_gradient, index_.cell_gradient})
      require(index, state, state_meaning);
    require(index_.secondary_bias, {directions_ * units_}, text("[", units(directions_), "]"));
    require(index_.peephole, bidirectional ? Shape{2, gates * units_} : Shape{gates * units_},
            bidirectional ? "[2, 4H]" : "[4H]");
    require(index_.z_state, z_state().shape, text("[T, N, ", units(directions_ * gates), "]"));
    for (const std::size_t index : {index_.output_fwd, index_.source_gradient})
      require(index, output().shape, text("[T, N, ", units(directions_), "]"));
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
    const std::string meaning = text(bidirectional ? "[2, " : "[", units(gates), ", H]");
    operands_.require_rank(index_.recurrent_weight, bidirectional ? 3 : 2, meaning);
    const Shape& shape = operands_[index_.recurrent_weight].shape;
    units_ = shape[bidirectional ? 2 : 1];
    if (units_ == 0)
      fail<ShapeError>(operands_.operation(), operands_.name(index_.recurrent_weight),
                       "must have at least one unit, got shape ", shape);
    gate_units_ = directions_ * gates * units_;
    const Shape expected = bidirectional ? Shape{2, gates * units_, units_} : Shape{gates * units_, units_};
    operands_.require_shape(index_.recurrent_weight, expected, meaning);
  }

  void check_input_weight(std::int64_t input_size) const {
    if (has(index_.input_weight))
      operands_.require_shape(index_.input_weight, {gate_units_, input_size},
                              text("[", units(gate_units_ / units_), ", I]"));
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
