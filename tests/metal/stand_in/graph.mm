// Graphs: operations that know their inputs, and the operations without a formula.
#include "graph.hpp"

#include "element.hpp"
#include "execution.hpp"
#include "tensors.hpp"

using stand_in::require;

@implementation MPSGraphOperation
- (instancetype)initUnset {
  return [super init];
}
- (NSArray<MPSGraphTensor*>*)inputTensors {
  NSMutableArray* tensors = [NSMutableArray array];
  for (MPSGraphTensor* tensor : _inputs) {
    if (tensor) [tensors addObject:tensor];
  }
  return tensors;
}
- (NSArray<MPSGraphTensor*>*)outputTensors {
  return [NSArray arrayWithObjects:_outputs.data() count:_outputs.size()];
}
- (NSArray<MPSGraphOperation*>*)controlDependencies {
  return @[];
}
- (MPSGraph*)graph {
  return _graph;
}
- (NSString*)name {
  return _name;
}
- (id)copyWithZone:(NSZone*)zone {
  return self;
}
@end

@implementation MPSGraphTensor
- (instancetype)initUnset {
  return [super init];
}
- (MPSShape*)shape {
  return _shape;
}
- (MPSDataType)dataType {
  return _type;
}
- (MPSGraphOperation*)operation {
  return _operation;
}
- (id)copyWithZone:(NSZone*)zone {
  return self;
}
@end

namespace stand_in {

MPSGraphTensor* new_tensor(MPSShape* shape, MPSDataType type, MPSGraphOperation* operation) {
  MPSGraphTensor* tensor = [[MPSGraphTensor alloc] initUnset];
  tensor->_shape = [shape copy];
  tensor->_type = type;
  tensor->_operation = operation;
  operation->_outputs.push_back(tensor);
  return tensor;
}

MPSGraphOperation* new_operation(MPSGraph* graph, NSString* name) {
  MPSGraphOperation* operation = [[MPSGraphOperation alloc] initUnset];
  operation->_graph = graph;
  operation->_name = [name copy];
  if (graph) {
    operation->_sequence = graph->_operations.size();
    graph->_operations.push_back(operation);
  }
  return operation;
}

NSArray<MPSGraphTensor*>* add_operation(MPSGraph* graph, const char* name, std::vector<MPSGraphTensor*> inputs,
                                        std::vector<TensorSpec> results, Compute compute) {
  require(graph != nil, name, "the graph must not be nil");
  for (MPSGraphTensor* input : inputs) {
    require(!input || input->_operation->_graph == graph, name, "a tensor of another graph");
  }
  MPSGraphOperation* operation = new_operation(graph, [NSString stringWithUTF8String:name]);
  operation->_inputs = std::move(inputs);
  operation->_compute = std::move(compute);
  for (const TensorSpec& result : results) {
    require(element_size(result.type) > 0, name, "unsupported data type");
    for (std::int64_t dim : result.shape) require(dim >= 0, name, "a dimension of a result is negative");
    new_tensor(shape_of(result.shape), result.type, operation);
  }
  return operation.outputTensors;
}

}  // namespace stand_in

@implementation MPSGraph
+ (instancetype)new {
  return [[self alloc] init];
}
- (instancetype)init {
  if ((self = [super init])) self.options = MPSGraphOptionsDefault;
  return self;
}
- (NSArray<MPSGraphTensor*>*)placeholderTensors {
  NSMutableArray* tensors = [NSMutableArray array];
  for (MPSGraphOperation* operation : _operations) {
    if (!operation->_compute) [tensors addObject:operation->_outputs.front()];
  }
  return tensors;
}
- (MPSGraphTensorDataDictionary*)runWithMTLCommandQueue:(id<MTLCommandQueue>)queue
                                                  feeds:(MPSGraphTensorDataDictionary*)feeds
                                          targetTensors:(NSArray<MPSGraphTensor*>*)targets
                                       targetOperations:(NSArray<MPSGraphOperation*>*)operations {
  NSMutableDictionary* types = [NSMutableDictionary dictionary];
  for (MPSGraphTensor* tensor in feeds) {
    types[tensor] = [[MPSGraphShapedType alloc] initWithShape:feeds[tensor].shape dataType:feeds[tensor].dataType];
  }
  MPSGraphExecutable* executable = [self compileWithDevice:nil
                                                     feeds:types
                                             targetTensors:targets
                                          targetOperations:operations
                                     compilationDescriptor:nil];
  NSMutableArray* inputs = [NSMutableArray array];
  for (MPSGraphTensor* tensor in executable.feedTensors) [inputs addObject:feeds[tensor]];
  NSArray<MPSGraphTensorData*>* results = [executable runWithMTLCommandQueue:queue
                                                                 inputsArray:inputs
                                                                resultsArray:nil
                                                         executionDescriptor:nil];
  NSMutableDictionary* named = [NSMutableDictionary dictionary];
  for (NSUInteger i = 0; i < results.count; ++i) named[executable.targetTensors[i]] = results[i];
  return named;
}
- (MPSGraphExecutable*)compileWithDevice:(MPSGraphDevice*)device
                                   feeds:(MPSGraphTensorShapedTypeDictionary*)feeds
                           targetTensors:(NSArray<MPSGraphTensor*>*)targets
                        targetOperations:(NSArray<MPSGraphOperation*>*)operations
                   compilationDescriptor:(MPSGraphCompilationDescriptor*)descriptor {
  return stand_in::compile(self, feeds, targets);
}
@end

@implementation MPSGraph (MPSGraphMemoryOps)
- (MPSGraphTensor*)placeholderWithShape:(MPSShape*)shape dataType:(MPSDataType)type name:(NSString*)name {
  const char* method = "placeholderWithShape:dataType:name:";
  require(shape != nil, method, "the stand-in takes no unranked placeholders");
  require(stand_in::element_size(type) > 0, method, "unsupported data type");
  for (NSNumber* dim in shape) require(dim.longLongValue >= 0, method, "the stand-in takes no dynamic dimensions");
  return stand_in::new_tensor(shape, type, stand_in::new_operation(self, name ? name : @"placeholder"));
}
- (MPSGraphTensor*)placeholderWithShape:(MPSShape*)shape name:(NSString*)name {
  return [self placeholderWithShape:shape dataType:MPSDataTypeFloat32 name:name];
}
- (MPSGraphTensor*)constantWithData:(NSData*)data shape:(MPSShape*)shape dataType:(MPSDataType)type {
  const char* method = "constantWithData:shape:dataType:";
  stand_in::HostTensor value;
  value.shape = stand_in::dims(shape);
  value.type = type;
  const std::size_t size = stand_in::element_size(type);
  require(size > 0, method, "unsupported data type");
  const auto count = static_cast<std::size_t>(stand_in::element_count(value.shape));
  require(data.length == count * size, method, "the data's length must match the shape");
  value.values.resize(count);
  const auto* bytes = static_cast<const char*>(data.bytes);
  for (std::size_t i = 0; i < count; ++i) value.values[i] = stand_in::load_element(bytes + i * size, type);
  return stand_in::add_operation(self, "constant", {}, {{value.shape, type}},
                                 [value](const auto&) { return std::vector{value}; })
      .firstObject;
}
- (MPSGraphTensor*)constantWithScalar:(double)scalar shape:(MPSShape*)shape dataType:(MPSDataType)type {
  stand_in::HostTensor value;
  value.shape = stand_in::dims(shape);
  value.type = type;
  for (std::int64_t dim : value.shape) require(dim >= 0, "constantWithScalar:shape:dataType:", "a negative dimension");
  value.values.assign(static_cast<std::size_t>(stand_in::element_count(value.shape)), scalar);
  return stand_in::add_operation(self, "constant", {}, {{value.shape, type}},
                                 [value](const auto&) { return std::vector{value}; })
      .firstObject;
}
- (MPSGraphTensor*)constantWithScalar:(double)scalar dataType:(MPSDataType)type {
  return [self constantWithScalar:scalar shape:@[ @1 ] dataType:type];
}
@end
