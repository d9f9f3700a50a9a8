#pragma once

#import <MetalPerformanceShadersGraph/MetalPerformanceShadersGraph.h>

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "graph.hpp"

namespace stand_in {

/// What an executable runs: the operations that the targets need, in order. Never changes once made.
struct Program {
  std::vector<MPSGraphTensor*> feeds;
  std::vector<MPSGraphTensor*> targets;
  std::vector<MPSGraphOperation*> operations;
};

MPSGraphTensor* new_tensor(MPSShape* shape, MPSDataType type, MPSGraphOperation* operation);
/// `graph` may be nil: the operation then belongs to an executable alone.
MPSGraphOperation* new_operation(MPSGraph* graph, NSString* name);

std::shared_ptr<const Program> make_program(MPSGraph* graph, MPSGraphTensorShapedTypeDictionary* feeds,
                                            NSArray<MPSGraphTensor*>* targets);
MPSGraphExecutable* compile(MPSGraph* graph, MPSGraphTensorShapedTypeDictionary* feeds,
                            NSArray<MPSGraphTensor*>* targets);

/// The targets' values, each rounded to its type.
std::vector<HostTensor> evaluate(const Program& program, std::vector<HostTensor> feeds);

/// Writes a package that `read_package` of this process can load.
void write_package(const std::string& directory, const std::shared_ptr<const Program>& program);
/// Null when there is no intact package of this process.
std::shared_ptr<const Program> read_package(const std::string& directory);

}  // namespace stand_in
