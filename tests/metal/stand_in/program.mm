#include <algorithm>
#include <set>
#include <unordered_map>

#include "controls.hpp"
#include "element.hpp"
#include "execution.hpp"
#include "tensors.hpp"

namespace stand_in {
namespace {

void* identity(id object) { return (__bridge void*)object; }

/// The operations that `targets` need, placeholders included, in the order in which they were made.
std::vector<MPSGraphOperation*> needed_operations(NSArray<MPSGraphTensor*>* targets) {
  std::vector<MPSGraphOperation*> found, pending;
  std::set<void*> seen;
  const auto visit = [&](MPSGraphTensor* tensor) {
    if (!tensor) return;
    MPSGraphOperation* operation = tensor->_operation;
    require(operation != nil, "compile", "a tensor whose graph is gone");
    if (seen.insert(identity(operation)).second) pending.push_back(operation);
  };
  for (MPSGraphTensor* target in targets) visit(target);
  while (!pending.empty()) {
    MPSGraphOperation* operation = pending.back();
    pending.pop_back();
    found.push_back(operation);
    for (MPSGraphTensor* input : operation->_inputs) visit(input);
  }
  std::ranges::sort(found, {}, [](MPSGraphOperation* operation) { return operation->_sequence; });
  return found;
}

std::string where(MPSGraphOperation* operation) { return operation->_name.UTF8String; }

void check_results(MPSGraphOperation* operation, const std::vector<HostTensor>& results) {
  const std::string name = where(operation);
  require(results.size() == operation->_outputs.size(), name.c_str(), "the stand-in computed too few results");
  for (std::size_t i = 0; i < results.size(); ++i) {
    const auto count = static_cast<std::size_t>(element_count(dims(operation->_outputs[i]->_shape)));
    require(results[i].values.size() == count, name.c_str(), "the stand-in computed a result of another size");
  }
}

}  // namespace

std::shared_ptr<const Program> make_program(MPSGraph* graph, MPSGraphTensorShapedTypeDictionary* feeds,
                                            NSArray<MPSGraphTensor*>* targets) {
  const char* method = "compileWithDevice:feeds:targetTensors:targetOperations:compilationDescriptor:";
  auto program = std::make_shared<Program>();
  std::set<void*> distinct;
  require(targets.count > 0, method, "there must be a target");
  for (MPSGraphTensor* target in targets) {
    require(target->_operation->_graph == graph, method, "a target of another graph");
    require(distinct.insert(identity(target)).second, method, "a target given twice");
    program->targets.push_back(target);
  }
  for (MPSGraphTensor* feed in feeds) {
    MPSGraphShapedType* type = feeds[feed];
    require(feed->_operation->_graph == graph, method, "a feed of another graph");
    require(!feed->_operation->_compute, method, "a feed that is no placeholder");
    require(type.dataType == feed->_type, method, "a feed's type differs from its placeholder's");
    require([type.shape isEqualToArray:feed->_shape], method, "a feed's shape differs from its placeholder's");
    program->feeds.push_back(feed);
  }
  // Not the order of creation: nothing promises it.
  std::ranges::sort(program->feeds, std::greater{}, [](MPSGraphTensor* feed) { return feed->_operation->_sequence; });
  program->operations = needed_operations(targets);
  for (MPSGraphOperation* operation : program->operations) {
    const bool given = operation->_compute || feeds[operation->_outputs.front()] != nil;
    require(given, method, "a placeholder that is needed was not fed");
  }
  return program;
}

std::vector<HostTensor> evaluate(const Program& program, std::vector<HostTensor> feeds) {
  std::unordered_map<void*, HostTensor> values;
  for (std::size_t i = 0; i < feeds.size(); ++i) values[identity(program.feeds[i])] = std::move(feeds[i]);
  for (MPSGraphOperation* operation : program.operations) {
    if (!operation->_compute) continue;
    std::vector<HostTensor> inputs;
    for (MPSGraphTensor* input : operation->_inputs) {
      inputs.push_back(input ? values.at(identity(input)) : HostTensor{.present = false, .shape = {}, .values = {}});
    }
    std::vector<HostTensor> results = operation->_compute(inputs);
    check_results(operation, results);
    for (std::size_t i = 0; i < results.size(); ++i) {
      MPSGraphTensor* output = operation->_outputs[i];
      results[i].shape = dims(output->_shape);
      results[i].type = output->_type;
      for (Element& value : results[i].values) value = rounded(value, output->_type);
      values[identity(output)] = std::move(results[i]);
    }
  }
  std::vector<HostTensor> targets;
  for (MPSGraphTensor* target : program.targets) targets.push_back(values.at(identity(target)));
  return targets;
}

}  // namespace stand_in
