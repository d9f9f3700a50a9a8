#pragma once

#include <string>
#include <unordered_map>
#include <vector>

#include "graph/export.hpp"
#include "graph/operation.hpp"

namespace mpsgraph_native {

/// Result `output` of node `node`; a negative node marks an absent optional operand.
struct TensorRef {
  int node = -1;
  int output = 0;

  bool present() const { return node >= 0; }
  friend bool operator==(const TensorRef&, const TensorRef&) = default;
};

struct Node {
  Operation operation;
  std::vector<TensorRef> inputs;
  ResultTypes outputs;
  std::string name;

  /// Names do not count: they change nothing that is computed.
  friend bool operator==(const Node& a, const Node& b) {
    return same(a.operation, b.operation) && a.inputs == b.inputs && a.outputs == b.outputs;
  }
};

/// Operations in the order in which they were added, which is a topological order.
class MPSGRAPH_API Graph {
 public:
  /// Validates and appends one operation; gives the index of its node. No two operations, and no two tensors, of a
  /// graph have one name: where `name` is taken, the first of name_1, name_2, ... that is free stands for it.
  int add(Operation operation, std::vector<TensorRef> inputs, const std::string& name = {});

  const std::vector<Node>& nodes() const { return nodes_; }
  const Node& node(int index) const { return nodes_[static_cast<std::size_t>(index)]; }
  const TensorType& type(TensorRef tensor) const {
    return node(tensor.node).outputs[static_cast<std::size_t>(tensor.output)];
  }
  /// The operation's name; with ":output" when it has several results.
  std::string name(TensorRef tensor) const;

 private:
  std::string free_name(const std::string& wanted, std::size_t outputs);

  std::vector<Node> nodes_;
  std::unordered_map<std::string, std::size_t> names_;  // those taken, with the number that was tried last behind each
};

/// What an executable computes: the nodes that the targets need, renumbered, with the fed tensors as placeholders.
/// Two programs that compare equal compute the same.
struct Program {
  std::vector<Node> nodes;
  std::vector<TensorRef> feeds;
  std::vector<TensorRef> targets;

  const Node& node(int index) const { return nodes[static_cast<std::size_t>(index)]; }
  const TensorType& type(TensorRef tensor) const {
    return node(tensor.node).outputs[static_cast<std::size_t>(tensor.output)];
  }
  friend bool operator==(const Program&, const Program&) = default;
};

MPSGRAPH_API std::size_t hash_of(const Program& program);

/// Cuts out of `graph` what `targets` need. A fed tensor that is no placeholder replaces the nodes behind it.
/// Raises CompileError when a placeholder that is needed is not fed, or a tensor is fed twice.
MPSGRAPH_API Program extract_program(const Graph& graph, std::span<const TensorRef> feeds,
                                     std::span<const TensorRef> targets);

/// The program of one operation whose operands (null: absent) are all fed.
Program single_operation_program(const Operation& operation, std::span<const TensorType* const> operands);

}  // namespace mpsgraph_native
