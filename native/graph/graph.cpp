#include "graph/graph.hpp"

#include <map>

namespace mpsgraph_native {
namespace {

std::vector<const TensorType*> operand_types(const auto& graph, const std::vector<TensorRef>& inputs) {
  std::vector<const TensorType*> types;
  types.reserve(inputs.size());
  for (const TensorRef input : inputs) types.push_back(input.present() ? &graph.type(input) : nullptr);
  return types;
}

std::string result_name(const std::string& operation, std::size_t output, std::size_t outputs) {
  return outputs > 1 ? text(operation, ':', output) : operation;
}

}  // namespace

int Graph::add(Operation operation, std::vector<TensorRef> inputs, const std::string& name) {
  ResultTypes outputs = infer_types(operation, operand_types(*this, inputs));
  std::string unique = free_name(name, outputs.size());
  nodes_.push_back({std::move(operation), std::move(inputs), std::move(outputs), std::move(unique)});
  return static_cast<int>(nodes_.size()) - 1;
}

std::string Graph::name(TensorRef tensor) const {
  const Node& from = node(tensor.node);
  return result_name(from.name, static_cast<std::size_t>(tensor.output), from.outputs.size());
}

std::string Graph::free_name(const std::string& wanted, std::size_t outputs) {
  const auto is_free = [&](const std::string& name) {
    if (names_.contains(name)) return false;
    for (std::size_t output = 0; output < outputs; ++output)
      if (names_.contains(result_name(name, output, outputs))) return false;
    return true;
  };
  std::string name = wanted;
  std::size_t tried = 0;
  if (!is_free(name)) {
    if (const auto known = names_.find(wanted); known != names_.end()) tried = known->second;
    do name = text(wanted, '_', ++tried);
    while (!is_free(name));
    names_[wanted] = tried;
  }
  names_.emplace(name, 0);
  for (std::size_t output = 0; output < outputs; ++output) names_.emplace(result_name(name, output, outputs), 0);
  return name;
}

std::size_t hash_of(const Program& program) {
  std::size_t seed = program.nodes.size();
  const auto mix = [&](TensorRef tensor) {
    seed = hash_combine(seed, static_cast<std::size_t>(tensor.node) * 31 + static_cast<std::size_t>(tensor.output));
  };
  for (const Node& node : program.nodes) {
    seed = hash_combine(seed, hash_of(node.operation));
    for (const TensorRef input : node.inputs) mix(input);
    for (const TensorType& output : node.outputs) seed = hash_combine(seed, hash_of(output));
  }
  for (const TensorRef feed : program.feeds) mix(feed);
  for (const TensorRef target : program.targets) mix(target);
  return seed;
}

Program extract_program(const Graph& graph, std::span<const TensorRef> feeds, std::span<const TensorRef> targets) {
  const auto key = [](TensorRef tensor) { return std::pair(tensor.node, tensor.output); };
  std::map<std::pair<int, int>, TensorRef> placed;  // where each tensor of the graph lies in the program

  Program program;
  for (const TensorRef feed : feeds) {
    const TensorRef place{static_cast<int>(program.nodes.size()), 0};
    if (!placed.emplace(key(feed), place).second)
      throw CompileError(text("compile: feeds holds the tensor ", graph.name(feed), " twice"));
    const TensorType& type = graph.type(feed);
    program.nodes.push_back({Placeholder{type}, {}, {type}, graph.name(feed)});
    program.feeds.push_back(place);
  }

  std::vector<bool> needed(graph.nodes().size(), false);
  const auto need = [&](TensorRef tensor) {
    if (tensor.present() && !placed.contains(key(tensor))) needed[static_cast<std::size_t>(tensor.node)] = true;
  };
  for (const TensorRef target : targets) need(target);
  for (int index = static_cast<int>(graph.nodes().size()) - 1; index >= 0; --index) {
    if (!needed[static_cast<std::size_t>(index)]) continue;
    for (const TensorRef input : graph.node(index).inputs) need(input);
  }

  for (int index = 0; index < static_cast<int>(graph.nodes().size()); ++index) {
    if (!needed[static_cast<std::size_t>(index)]) continue;
    Node node = graph.node(index);
    if (std::holds_alternative<Placeholder>(node.operation))
      throw CompileError(text("compile: feeds must hold the placeholder ", node.name, ", which the targets need"));
    for (TensorRef& input : node.inputs)
      if (input.present()) input = placed.at(key(input));
    const int place = static_cast<int>(program.nodes.size());
    for (int output = 0; output < static_cast<int>(node.outputs.size()); ++output)
      placed.emplace(std::pair(index, output), TensorRef{place, output});  // a fed output keeps its feed
    program.nodes.push_back(std::move(node));
  }
  for (const TensorRef target : targets) program.targets.push_back(placed.at(key(target)));
  return program;
}

Program single_operation_program(const Operation& operation, std::span<const TensorType* const> operands) {
  Program program;
  std::vector<TensorRef> inputs;
  for (const TensorType* type : operands) {
    if (!type) {
      inputs.push_back({});
      continue;
    }
    inputs.push_back({static_cast<int>(program.nodes.size()), 0});
    program.feeds.push_back(inputs.back());
    program.nodes.push_back({Placeholder{*type}, {}, {*type}, {}});
  }
  ResultTypes results = infer_types(operation, operands);
  const int place = static_cast<int>(program.nodes.size());
  for (int output = 0; output < static_cast<int>(results.size()); ++output) program.targets.push_back({place, output});
  program.nodes.push_back({operation, std::move(inputs), std::move(results), std::string(name_of(operation))});
  return program;
}

}  // namespace mpsgraph_native
