#include "graph/autodiff.hpp"

#include <cstring>
#include <map>

namespace mpsgraph_native {
namespace {

/// Builds the chain rule of one node: reads what flows into its results, adds what flows out of its operands.
class Chain {
 public:
  using Flows = std::map<std::pair<int, int>, TensorRef>;

  Chain(Graph& graph, int index, const std::vector<bool>& wanted, Flows& flows, const std::string& prefix)
      : graph_(graph),
        index_(index),
        inputs_(graph.node(index).inputs),
        wanted_(wanted),
        flows_(flows),
        prefix_(prefix) {}

  std::string_view name() const { return name_of(graph_.node(index_).operation); }
  const TensorType& type(TensorRef tensor) const { return graph_.type(tensor); }
  const Shape& shape(TensorRef tensor) const { return type(tensor).shape; }

  TensorRef input(std::size_t i) const { return inputs_[i]; }
  TensorRef output(int i) const { return {index_, i}; }

  /// Whether somebody asks for the gradient with respect to this operand.
  bool wants(std::size_t i) const { return inputs_[i].present() && wanted_[static_cast<std::size_t>(inputs_[i].node)]; }
  /// The gradient with respect to a result; absent when nothing depends on that result.
  TensorRef flow(int output) const {
    const auto found = flows_.find({index_, output});
    return found == flows_.end() ? TensorRef{} : found->second;
  }

  TensorRef add(Operation operation, std::vector<TensorRef> inputs) {
    return {graph_.add(std::move(operation), std::move(inputs), next_name()), 0};
  }
  TensorRef add_to_flow(TensorRef tensor, TensorRef gradient) {
    TensorRef& flow = flows_[{tensor.node, tensor.output}];
    flow = flow.present() ? add(Addition{}, {flow, gradient}) : gradient;
    return flow;
  }
  /// Adds d/d operand i.
  void give(std::size_t i, TensorRef gradient) { add_to_flow(inputs_[i], gradient); }

  TensorRef scalar(double value, DataType dtype) {
    const DataType stored = dtype == DataType::Float64 ? DataType::Float64 : DataType::Float32;
    auto data = std::make_shared<std::vector<std::byte>>(byte_size(stored));
    const float narrow = static_cast<float>(value);
    std::memcpy(data->data(), stored == DataType::Float64 ? static_cast<const void*>(&value) : &narrow, data->size());
    const TensorRef constant = add(Constant{{stored, {}}, std::move(data)}, {});
    return stored == dtype ? constant : add(Cast{dtype}, {constant});
  }
  TensorRef filled(double value, const TensorType& like) {
    return add(Broadcast{like.shape}, {scalar(value, like.dtype)});
  }
  TensorRef scaled(TensorRef tensor, double factor) {
    return add(Multiplication{}, {tensor, scalar(factor, type(tensor).dtype)});
  }
  /// Sums over the axes along which an operand of this shape was broadcast.
  TensorRef summed_to(TensorRef tensor, const Shape& target) {
    const Shape from = shape(tensor);
    if (from == target) return tensor;
    const int lead = from.rank() - target.rank();
    Shape axes;
    for (int axis = 0; axis < from.rank(); ++axis)
      if (axis < lead || (target[axis - lead] == 1 && from[axis] != 1)) axes.push_back(axis);
    if (!axes.empty()) tensor = add(ReductionSum{axes, false}, {tensor});
    return shape(tensor) == target ? tensor : add(Reshape{target}, {tensor});
  }

  [[noreturn]] void refuse(std::string_view why) const {
    throw CompileError(text("gradients: operation ", name(), " (", graph_.node(index_).name, ") ", why));
  }

 private:
  std::string next_name() const { return text(prefix_, '_', graph_.nodes().size()); }

  Graph& graph_;
  int index_;
  std::vector<TensorRef> inputs_;  // a copy: adding nodes moves the graph's own
  const std::vector<bool>& wanted_;
  Flows& flows_;
  const std::string& prefix_;
};

/// Operations without a rule of their own.
template <class Attributes>
void differentiate(const Attributes&, Chain& chain) {
  chain.refuse("has no gradient");
}

// -- arithmetic and activation ---------------------------------------------------------------------------------------

template <UnaryFunction Function>
void differentiate(const ElementwiseUnary<Function>&, Chain& chain) {
  const TensorRef g = chain.flow(0), x = chain.input(0), y = chain.output(0);
  const DataType dtype = chain.type(x).dtype;
  const auto product = [&](TensorRef a, TensorRef b) { return chain.add(Multiplication{}, {a, b}); };
  switch (Function) {
    case UnaryFunction::Absolute: {
      const TensorRef zero = chain.scalar(0, dtype);
      const TensorRef otherwise =
          chain.add(Select{}, {chain.add(LessThan{}, {x, zero}), chain.add(Negative{}, {g}), product(g, zero)});
      return chain.give(0, chain.add(Select{}, {chain.add(GreaterThan{}, {x, zero}), g, otherwise}));
    }
    case UnaryFunction::Exponent: return chain.give(0, product(g, y));
    case UnaryFunction::Identity: return chain.give(0, g);
    case UnaryFunction::Logarithm: return chain.give(0, chain.add(Division{}, {g, x}));
    case UnaryFunction::Negative: return chain.give(0, chain.add(Negative{}, {g}));
    case UnaryFunction::Reciprocal: return chain.give(0, chain.add(Negative{}, {product(g, chain.add(Square{}, {y}))}));
    case UnaryFunction::Square: return chain.give(0, product(chain.scaled(g, 2), x));
    case UnaryFunction::SquareRoot: return chain.give(0, chain.add(Division{}, {chain.scaled(g, 0.5), y}));
    case UnaryFunction::Tanh:
      return chain.give(0, product(g, chain.add(Subtraction{}, {chain.scalar(1, dtype), chain.add(Square{}, {y})})));
  }
}

template <BinaryFunction Function>
void differentiate(const ElementwiseBinary<Function>&, Chain& chain) {
  const TensorRef g = chain.flow(0), a = chain.input(0), b = chain.input(1);
  const auto give = [&](std::size_t i, auto&& gradient) {
    if (chain.wants(i)) chain.give(i, chain.summed_to(gradient(), Shape(chain.shape(chain.input(i)))));
  };
  const auto product = [&](TensorRef p, TensorRef q) { return chain.add(Multiplication{}, {p, q}); };
  // Where both are equal the gradient goes to the primary, whose value the forward operation kept.
  const auto chosen = [&](auto comparison, bool primary) {
    const TensorRef zero = chain.filled(0, TensorType(chain.type(g)));
    const TensorRef holds = chain.add(comparison, {a, b});
    return primary ? chain.add(Select{}, {holds, g, zero}) : chain.add(Select{}, {holds, zero, g});
  };
  switch (Function) {
    case BinaryFunction::Addition: give(0, [&] { return g; }); return give(1, [&] { return g; });
    case BinaryFunction::Subtraction:
      give(0, [&] { return g; });
      return give(1, [&] { return chain.add(Negative{}, {g}); });
    case BinaryFunction::Multiplication:
      give(0, [&] { return product(g, b); });
      return give(1, [&] { return product(g, a); });
    case BinaryFunction::Division:
      give(0, [&] { return chain.add(Division{}, {g, b}); });
      return give(1, [&] { return chain.add(Negative{}, {chain.add(Division{}, {product(g, chain.output(0)), b})}); });
    case BinaryFunction::Maximum:
      give(0, [&] { return chosen(GreaterThanOrEqualTo{}, true); });
      return give(1, [&] { return chosen(GreaterThanOrEqualTo{}, false); });
    case BinaryFunction::Minimum:
      give(0, [&] { return chosen(LessThanOrEqualTo{}, true); });
      return give(1, [&] { return chosen(LessThanOrEqualTo{}, false); });
  }
}

void differentiate(const Select&, Chain& chain) {
  const TensorRef g = chain.flow(0);
  const TensorRef zero = chain.filled(0, TensorType(chain.type(g)));
  for (const std::size_t i : {1, 2}) {
    if (!chain.wants(i)) continue;
    const std::vector<TensorRef> operands{chain.input(0), i == 1 ? g : zero, i == 1 ? zero : g};
    chain.give(i, chain.summed_to(chain.add(Select{}, operands), Shape(chain.shape(chain.input(i)))));
  }
}

void differentiate(const Relu&, Chain& chain) {
  chain.give(0, chain.add(ReluGradient{}, {chain.flow(0), chain.input(0)}));
}
void differentiate(const Sigmoid&, Chain& chain) {
  chain.give(0, chain.add(SigmoidGradient{}, {chain.flow(0), chain.input(0)}));
}
void differentiate(const Softmax& op, Chain& chain) {
  chain.give(0, chain.add(SoftmaxGradient{op.axis}, {chain.flow(0), chain.input(0)}));
}

// -- reductions and shapes -------------------------------------------------------------------------------------------

TensorRef spread(Chain& chain) { return chain.add(Broadcast{Shape(chain.shape(chain.input(0)))}, {chain.flow(0)}); }

void differentiate(const ReductionSum&, Chain& chain) { chain.give(0, spread(chain)); }

void differentiate(const Mean&, Chain& chain) {
  const double count = static_cast<double>(chain.shape(chain.input(0)).elements()) /
                       static_cast<double>(std::max<std::int64_t>(chain.shape(chain.output(0)).elements(), 1));
  chain.give(0, chain.scaled(spread(chain), 1 / count));
}

/// The gradient of an extremum is shared equally among the elements that attain it.
void share_extremum(const Shape& axes, bool all_axes, Chain& chain) {
  const TensorRef attains =
      chain.add(Cast{chain.type(chain.input(0)).dtype}, {chain.add(Equal{}, {chain.input(0), chain.output(0)})});
  const TensorRef count = chain.add(ReductionSum{axes, all_axes}, {attains});
  const TensorRef part = chain.add(Division{}, {chain.flow(0), count});
  chain.give(0, chain.add(Multiplication{}, {attains, part}));
}
void differentiate(const ReductionMaximum& op, Chain& chain) { share_extremum(op.axes, op.all_axes, chain); }
void differentiate(const ReductionMinimum& op, Chain& chain) { share_extremum(op.axes, op.all_axes, chain); }

void differentiate(const Reshape&, Chain& chain) {
  chain.give(0, chain.add(Reshape{Shape(chain.shape(chain.input(0)))}, {chain.flow(0)}));
}
void differentiate(const Transpose& op, Chain& chain) {
  Shape inverse(op.permutation);
  for (int axis = 0; axis < op.permutation.rank(); ++axis) inverse[static_cast<int>(op.permutation[axis])] = axis;
  chain.give(0, chain.add(Transpose{inverse}, {chain.flow(0)}));
}
void differentiate(const Broadcast&, Chain& chain) {
  chain.give(0, chain.summed_to(chain.flow(0), Shape(chain.shape(chain.input(0)))));
}
void differentiate(const Cast&, Chain& chain) {
  const DataType from = chain.type(chain.input(0)).dtype;
  if (!is_floating(from)) chain.refuse("has no gradient with respect to integers");
  chain.give(0, chain.add(Cast{from}, {chain.flow(0)}));
}
void differentiate(const Slice& op, Chain& chain) {
  const SliceGradient gradient{Shape(chain.shape(chain.input(0))), op.starts, op.ends, op.strides};
  chain.give(0, chain.add(gradient, {chain.flow(0)}));
}
void differentiate(const SliceGradient& op, Chain& chain) {
  chain.give(0, chain.add(Slice{op.starts, op.ends, op.strides}, {chain.flow(0)}));
}

// -- products --------------------------------------------------------------------------------------------------------

TensorRef transposed(Chain& chain, TensorRef matrix) {
  const int rank = chain.shape(matrix).rank();
  Shape permutation;
  for (int axis = 0; axis < rank; ++axis) permutation.push_back(axis < rank - 2 ? axis : 2 * rank - 3 - axis);
  return chain.add(Transpose{permutation}, {matrix});
}

void differentiate(const MatrixMultiplication&, Chain& chain) {
  const TensorRef g = chain.flow(0), a = chain.input(0), b = chain.input(1);
  if (chain.wants(0)) {
    const TensorRef full = chain.add(MatrixMultiplication{}, {g, transposed(chain, b)});
    chain.give(0, chain.summed_to(full, Shape(chain.shape(a))));
  }
  if (chain.wants(1)) {
    const TensorRef full = chain.add(MatrixMultiplication{}, {transposed(chain, a), g});
    chain.give(1, chain.summed_to(full, Shape(chain.shape(b))));
  }
}

// A convolution and its two gradients are the three faces of one trilinear form, so each one's gradients are the
// other two.

template <class Forward, class DataGradient, class WeightsGradient>
struct ConvolutionRules {
  static void forward(const Forward& op, Chain& chain) {
    const TensorRef g = chain.flow(0), x = chain.input(0), w = chain.input(1);
    if (chain.wants(0)) chain.give(0, chain.add(DataGradient{op.descriptor, Shape(chain.shape(x))}, {g, w}));
    if (chain.wants(1)) chain.give(1, chain.add(WeightsGradient{op.descriptor, Shape(chain.shape(w))}, {g, x}));
  }
  static void data_gradient(const DataGradient& op, Chain& chain) {
    const TensorRef g = chain.flow(0), dy = chain.input(0), w = chain.input(1);
    if (chain.wants(0)) chain.give(0, chain.add(Forward{op.descriptor}, {g, w}));
    if (chain.wants(1)) chain.give(1, chain.add(WeightsGradient{op.descriptor, Shape(chain.shape(w))}, {dy, g}));
  }
  static void weights_gradient(const WeightsGradient& op, Chain& chain) {
    const TensorRef g = chain.flow(0), dy = chain.input(0), x = chain.input(1);
    if (chain.wants(0)) chain.give(0, chain.add(Forward{op.descriptor}, {x, g}));
    if (chain.wants(1)) chain.give(1, chain.add(DataGradient{op.descriptor, Shape(chain.shape(x))}, {dy, g}));
  }
};
using Convolution = ConvolutionRules<Convolution2D, Convolution2DDataGradient, Convolution2DWeightsGradient>;
using Depthwise =
    ConvolutionRules<DepthwiseConvolution2D, DepthwiseConvolution2DDataGradient, DepthwiseConvolution2DWeightsGradient>;

void differentiate(const Convolution2D& op, Chain& chain) { Convolution::forward(op, chain); }
void differentiate(const Convolution2DDataGradient& op, Chain& chain) { Convolution::data_gradient(op, chain); }
void differentiate(const Convolution2DWeightsGradient& op, Chain& chain) { Convolution::weights_gradient(op, chain); }
void differentiate(const DepthwiseConvolution2D& op, Chain& chain) { Depthwise::forward(op, chain); }
void differentiate(const DepthwiseConvolution2DDataGradient& op, Chain& chain) { Depthwise::data_gradient(op, chain); }
void differentiate(const DepthwiseConvolution2DWeightsGradient& op, Chain& chain) {
  Depthwise::weights_gradient(op, chain);
}

// -- pooling ---------------------------------------------------------------------------------------------------------

template <class Gradient>
void pool_from_source(const auto& op, Chain& chain) {
  Gradient gradient;
  gradient.descriptor = op.descriptor;
  std::vector<TensorRef> operands{chain.flow(0), chain.input(0)};
  operands.resize(Gradient::arguments.size());
  chain.give(0, chain.add(gradient, operands));
}
/// Through the source, not the indices: every index mode has that form.
template <class Gradient>
void pool_with_indices(const auto& op, Chain& chain) {
  if (!chain.flow(0).present()) chain.refuse("has no gradient through its indices");
  pool_from_source<Gradient>(op, chain);
}

void differentiate(const MaxPooling2D& op, Chain& chain) { pool_from_source<MaxPooling2DGradient>(op, chain); }
void differentiate(const MaxPooling4D& op, Chain& chain) { pool_from_source<MaxPooling4DGradient>(op, chain); }
void differentiate(const AvgPooling2D& op, Chain& chain) { pool_from_source<AvgPooling2DGradient>(op, chain); }
void differentiate(const AvgPooling4D& op, Chain& chain) { pool_from_source<AvgPooling4DGradient>(op, chain); }
void differentiate(const L2NormPooling4D& op, Chain& chain) { pool_from_source<L2NormPooling4DGradient>(op, chain); }
void differentiate(const MaxPooling2DReturnIndices& op, Chain& chain) {
  pool_with_indices<MaxPooling2DGradient>(op, chain);
}
void differentiate(const MaxPooling4DReturnIndices& op, Chain& chain) {
  pool_with_indices<MaxPooling4DGradient>(op, chain);
}

// -- recurrent -------------------------------------------------------------------------------------------------------

/// Gives each result of a recurrent gradient operation to the forward operand that it belongs to. `differentiable`
/// holds forward operand positions in the gradient's result order; absent operands have no result.
void give_recurrent(Chain& chain, Operation gradient, std::vector<TensorRef> operands,
                    std::initializer_list<std::size_t> differentiable) {
  TensorRef result = chain.add(std::move(gradient), std::move(operands));
  for (const std::size_t i : differentiable) {
    if (!chain.input(i).present()) continue;
    if (chain.wants(i)) chain.give(i, result);
    ++result.output;
  }
}

void require_state(Chain& chain, bool training) {
  if (!training) chain.refuse("needs training=True in its descriptor for a gradient");
  if (!chain.flow(0).present()) chain.refuse("has a gradient through its first result alone");
}

void differentiate(const GRU& op, Chain& chain) {
  require_state(chain, op.descriptor.training);
  if (chain.flow(1).present()) chain.refuse("has no gradient through its training state");
  const auto in = [&](std::size_t i) { return chain.input(i); };
  give_recurrent(chain, GRUGradients{op.descriptor},
                 {in(0), in(1), chain.flow(0), chain.output(1), chain.output(0), {}, in(2), in(3), in(4), in(5), in(6)},
                 {0, 1, 2, 3, 4, 6});
}

void differentiate(const LSTM& op, Chain& chain) {
  require_state(chain, op.descriptor.training);
  if (chain.flow(1).present() || chain.flow(2).present())
    chain.refuse("has no gradient through its cells or training state");
  const auto in = [&](std::size_t i) { return chain.input(i); };
  give_recurrent(
      chain, LSTMGradients{op.descriptor},
      {in(0), in(1), chain.flow(0), chain.output(2), chain.output(1), {}, {}, in(2), in(3), in(4), in(5), in(6), in(7)},
      {0, 1, 2, 3, 7, 4, 5});
}

void differentiate(const SingleGateRNN& op, Chain& chain) {
  require_state(chain, op.descriptor.training);
  if (chain.flow(1).present()) chain.refuse("has no gradient through its training state");
  const auto in = [&](std::size_t i) { return chain.input(i); };
  give_recurrent(chain, SingleGateRNNGradients{op.descriptor},
                 {in(0), in(1), chain.flow(0), chain.output(1), {}, in(2), in(3), in(4), in(5)}, {0, 1, 2, 3, 4});
}

// -- loss and optimizer ----------------------------------------------------------------------------------------------

void differentiate(const SoftmaxCrossEntropy& op, Chain& chain) {
  if (chain.wants(1)) chain.refuse("has no gradient with respect to labels");
  chain.give(0, chain.add(SoftmaxCrossEntropyGradient{op.axis, op.reduction_type},
                          {chain.flow(0), chain.input(0), chain.input(1)}));
}

void differentiate(const StochasticGradientDescent&, Chain& chain) {
  const TensorRef g = chain.flow(0), rate = chain.input(0), gradient = chain.input(2);
  const auto negated_product = [&](TensorRef factor) {
    return chain.add(Negative{}, {chain.add(Multiplication{}, {g, factor})});
  };
  if (chain.wants(0)) chain.give(0, chain.summed_to(negated_product(gradient), Shape(chain.shape(rate))));
  if (chain.wants(1)) chain.give(1, g);
  if (chain.wants(2)) chain.give(2, negated_product(rate));
}

}  // namespace

std::vector<TensorRef> add_gradients(Graph& graph, TensorRef primary, const std::vector<TensorRef>& tensors,
                                     const std::string& name) {
  const auto check_floating = [&](TensorRef tensor, std::string_view argument) {
    if (!is_floating(graph.type(tensor).dtype))
      fail<DTypeError>("gradients", argument, "must be floating, got ", graph.type(tensor).dtype);
  };
  check_floating(primary, "primary");
  for (const TensorRef tensor : tensors) check_floating(tensor, "tensors");

  // Nodes that depend on one of the tensors; a flow is built for these alone.
  const int last = primary.node;
  std::vector<bool> wanted(static_cast<std::size_t>(last) + 1, false);
  for (const TensorRef tensor : tensors)
    if (tensor.node <= last) wanted[static_cast<std::size_t>(tensor.node)] = true;
  std::vector<bool> depends = wanted;
  for (int index = 0; index <= last; ++index)
    for (const TensorRef input : graph.node(index).inputs)
      if (input.present() && depends[static_cast<std::size_t>(input.node)])
        depends[static_cast<std::size_t>(index)] = true;

  Chain::Flows flows;
  {
    Chain start(graph, last, depends, flows, name);
    flows[{primary.node, primary.output}] = start.filled(1, TensorType(graph.type(primary)));
  }
  for (int index = last; index >= 0; --index) {
    const std::vector<TensorRef> inputs = graph.node(index).inputs;
    const bool leads_on = std::ranges::any_of(
        inputs, [&](TensorRef input) { return input.present() && depends[static_cast<std::size_t>(input.node)]; });
    const auto first = flows.lower_bound({index, 0});
    if (!leads_on || first == flows.end() || first->first.first != index) continue;
    Chain chain(graph, index, depends, flows, name);
    const Operation operation = graph.node(index).operation;  // a copy: the rules add nodes
    std::visit([&](const auto& attributes) { differentiate(attributes, chain); }, operation);
  }

  std::vector<TensorRef> gradients;
  for (const TensorRef tensor : tensors) {
    const auto flow = flows.find({tensor.node, tensor.output});
    gradients.push_back(flow != flows.end()
                            ? flow->second
                            : Chain(graph, last, depends, flows, name).filled(0, TensorType(graph.type(tensor))));
  }
  return gradients;
}

}  // namespace mpsgraph_native
