#include "metal/lowered_program.hpp"

#include <algorithm>
#include <deque>

#include "metal/empty_tensors.hpp"
#include "metal/guarded.hpp"
#include "metal/lowerings.hpp"
#include "metal/validation.hpp"

namespace mpsgraph_native::metal {
namespace {

/// What is known of one tensor of the program before anything is lowered.
struct Origin {
  enum class Kind { NoElements, Feed, Known, Same, Computed };
  Kind kind = Kind::Computed;
  std::size_t feed = 0;
  Bytes bytes;
  TensorRef same;  ///< Same: the tensor with the same contents
};

Bytes repeated(const std::vector<std::byte>& element, const TensorType& type) {
  auto bytes = std::make_shared<std::vector<std::byte>>();
  bytes->reserve(type.bytes());
  while (bytes->size() < type.bytes()) bytes->insert(bytes->end(), element.begin(), element.end());
  return bytes;
}

std::string spelled(MPSShape* shape) {
  std::string result;
  for (NSNumber* dim in shape) result += text(result.empty() ? "" : ", ", dim.longLongValue);
  return text('(', result, ')');
}

/// MPSGraph infers types of its own; where they differ from ours, its results would not fit the caller's memory.
void check_type(const Operation& operation, MPSGraphTensor* tensor, const TensorType& expected) {
  if (tensor == nil) throw CompileError(text(name_of(operation), ": MPSGraph gives no result"));
  MPSShape* const shape = tensor.shape;
  const bool same_shape = shape == nil || [shape isEqualToArray:shape_array(expected.shape)] ||
                          (expected.shape.empty() && shape.count == 0);
  if (!same_shape || tensor.dataType != data_type(expected.dtype))
    throw CompileError(text(name_of(operation), ": MPSGraph infers a result of shape ", spelled(shape), " and type ",
                            static_cast<std::uint32_t>(tensor.dataType), ", expected ", expected.shape, " and ",
                            static_cast<std::uint32_t>(expected.dtype)));
}

class Builder {
 public:
  explicit Builder(const Program& program) : program_(program), tensors_(program.nodes.size()) {
    lowered_.placeholders.resize(program.feeds.size());
    for (std::size_t index = 0; index < program.nodes.size(); ++index) classify(index);
  }

  LoweredProgram build() {
    std::vector<bool> needed(program_.nodes.size(), false);
    const auto need = [&](TensorRef tensor) {
      if (!tensor.present()) return;
      tensor = resolved(tensor);
      if (origin(tensor).kind == Origin::Kind::Computed) needed[static_cast<std::size_t>(tensor.node)] = true;
    };
    for (const TensorRef target : program_.targets) need(target);
    for (std::size_t index = program_.nodes.size(); index-- > 0;)
      if (needed[index])
        for (const TensorRef input : program_.nodes[index].inputs) need(input);

    lowered_.graph = [MPSGraph new];
    for (std::size_t index = 0; index < program_.nodes.size(); ++index)
      if (needed[index]) lower_node(index);
    for (const TensorRef target : program_.targets) lowered_.targets.push_back(source_of(target));
    return std::move(lowered_);
  }

 private:
  const Origin& origin(TensorRef tensor) const {
    return origins_[static_cast<std::size_t>(tensor.node)][static_cast<std::size_t>(tensor.output)];
  }

  /// The tensor that really holds the contents.
  TensorRef resolved(TensorRef tensor) const {
    while (origin(tensor).kind == Origin::Kind::Same) tensor = origin(tensor).same;
    return tensor;
  }

  std::vector<const TensorType*> operand_types(const Node& node) const {
    std::vector<const TensorType*> types;
    for (const TensorRef input : node.inputs) types.push_back(input.present() ? &program_.type(input) : nullptr);
    return types;
  }

  void classify(std::size_t index) {
    const Node& node = program_.nodes[index];
    std::vector<Origin>& origins = origins_.emplace_back(node.outputs.size());
    const std::vector<const TensorType*> types = operand_types(node);
    const auto* constant = std::get_if<Constant>(&node.operation);
    const bool is_feed = std::holds_alternative<Placeholder>(node.operation);
    const bool known = !constant && !is_feed && treatment_of(node.operation, types, node.outputs) == Treatment::Known;
    for (std::size_t output = 0; output < node.outputs.size(); ++output) {
      Origin& origin = origins[output];
      if (!has_elements(node.outputs[output])) {
        origin.kind = Origin::Kind::NoElements;
      } else if (constant) {
        origin.kind = Origin::Kind::Known;
        origin.bytes = constant->data;
      } else if (is_feed) {
        origin.kind = Origin::Kind::Feed;
        const auto feed = std::ranges::find(program_.feeds, TensorRef{static_cast<int>(index), 0});
        origin.feed = static_cast<std::size_t>(feed - program_.feeds.begin());
      } else if (known) {
        set_known(node, types, output, origin);
      }
    }
  }

  static void set_known(const Node& node, std::span<const TensorType* const> types, std::size_t output,
                        Origin& origin) {
    const KnownResult result = known_result(node.operation, types, node.outputs, output);
    if (result.kind == KnownResult::Kind::Operand) {
      origin.kind = Origin::Kind::Same;
      origin.same = node.inputs[result.operand];
    } else {
      origin.kind = Origin::Kind::Known;
      origin.bytes = repeated(result.element, node.outputs[output]);
    }
  }

  MPSGraphTensor* constant_of(const Bytes& bytes, const TensorType& type) {
    NSData* const data = [NSData dataWithBytes:bytes->data() length:bytes->size()];
    return [lowered_.graph constantWithData:data shape:shape_array(type.shape) dataType:data_type(type.dtype)];
  }

  /// The tensor in MPSGraph's graph, made when first asked for.
  MPSGraphTensor* tensor_of(TensorRef ref) {
    ref = resolved(ref);
    std::vector<MPSGraphTensor*>& tensors = tensors_[static_cast<std::size_t>(ref.node)];
    tensors.resize(std::max(tensors.size(), program_.node(ref.node).outputs.size()));
    MPSGraphTensor* __strong& tensor = tensors[static_cast<std::size_t>(ref.output)];
    if (tensor != nil) return tensor;
    const Origin& from = origin(ref);
    const TensorType& type = program_.type(ref);
    if (from.kind == Origin::Kind::Feed) {
      tensor = [lowered_.graph placeholderWithShape:shape_array(type.shape) dataType:data_type(type.dtype) name:nil];
      lowered_.placeholders[from.feed] = tensor;
    } else if (from.kind == Origin::Kind::Known) {
      tensor = constant_of(from.bytes, type);
    } else {  // without elements: an operand of an operation that is lowered widened
      const TensorType wide = widened(type);
      tensor = constant_of(repeated(std::vector<std::byte>(byte_size(type.dtype)), wide), wide);
    }
    return tensor;
  }

  const Operation* producer_of(TensorRef tensor) const {
    tensor = resolved(tensor);
    return origin(tensor).kind == Origin::Kind::Computed ? &program_.node(tensor.node).operation : nullptr;
  }

  void note_indices(const Node& node) {
    const std::span<const Argument> arguments = arguments_of(node.operation);
    for (std::size_t index = 0; index < node.inputs.size(); ++index) {
      if (arguments[index].name != "indices" || !node.inputs[index].present()) continue;
      const TensorRef indices = resolved(node.inputs[index]);
      const Origin& from = origin(indices);
      if (from.kind == Origin::Kind::Feed)
        lowered_.fed_indices.push_back({node.operation, program_.type(indices), from.feed});
      else if (from.kind == Origin::Kind::Known)
        check_pooling_indices(node.operation, program_.type(indices), from.bytes->data());
    }
  }

  void lower_node(std::size_t index) {
    const Node& node = program_.nodes[index];
    std::vector<const TensorType*> types = operand_types(node);
    std::vector<TensorType> outputs = node.outputs;
    std::deque<TensorType> wide;
    for (const TensorType*& type : types)
      if (type && !has_elements(*type)) type = &wide.emplace_back(widened(*type));
    std::ranges::transform(outputs, outputs.begin(), widened);

    std::vector<MPSGraphTensor*> inputs;
    std::vector<const Operation*> producers;
    for (const TensorRef input : node.inputs) {
      inputs.push_back(input.present() ? tensor_of(input) : nil);
      producers.push_back(input.present() ? producer_of(input) : nullptr);
    }
    note_indices(node);
    Lowered results = lower(node.operation, {lowered_.graph, std::move(inputs), types, outputs, producers});
    if (results.size() != outputs.size())
      throw CompileError(
          text(name_of(node.operation), ": lowered to ", results.size(), " results, expected ", outputs.size()));
    for (std::size_t output = 0; output < outputs.size(); ++output) {
      check_type(node.operation, results[output], outputs[output]);
      if (!has_elements(node.outputs[output])) results[output] = nil;
    }
    tensors_[index] = std::move(results);
  }

  TargetSource source_of(TensorRef target) {
    target = resolved(target);
    const Origin& from = origin(target);
    switch (from.kind) {
      case Origin::Kind::NoElements: return {};
      case Origin::Kind::Feed: return {TargetSource::Kind::Feed, from.feed, nullptr};
      case Origin::Kind::Known: return {TargetSource::Kind::Known, 0, from.bytes};
      default: break;
    }
    MPSGraphTensor* const tensor =
        tensors_[static_cast<std::size_t>(target.node)][static_cast<std::size_t>(target.output)];
    // A lowering may hand an operand on; MPSGraph is asked for what it computes alone.
    if (const auto feed = std::ranges::find(lowered_.placeholders, tensor); feed != lowered_.placeholders.end())
      return {TargetSource::Kind::Feed, static_cast<std::size_t>(feed - lowered_.placeholders.begin()), nullptr};
    for (std::size_t node = 0; node < program_.nodes.size(); ++node)
      for (std::size_t output = 0; output < tensors_[node].size(); ++output)
        if (tensors_[node][output] == tensor && origins_[node][output].kind == Origin::Kind::Known)
          return {TargetSource::Kind::Known, 0, origins_[node][output].bytes};
    const auto result = std::ranges::find(lowered_.results, tensor);
    const auto place = static_cast<std::size_t>(result - lowered_.results.begin());
    if (result == lowered_.results.end()) {
      lowered_.results.push_back(tensor);
      lowered_.result_types.push_back(program_.type(target));
    }
    return {TargetSource::Kind::Result, place, nullptr};
  }

  const Program& program_;
  std::vector<std::vector<Origin>> origins_;           // per node and output
  std::vector<std::vector<MPSGraphTensor*>> tensors_;  // per node and output; nil: not in the graph
  LoweredProgram lowered_;
};

}  // namespace

LoweredProgram lower_program(const Program& program) { return Builder(program).build(); }

}  // namespace mpsgraph_native::metal
