#include <condition_variable>
#include <mutex>

#include "controls.hpp"
#include "element.hpp"
#include "execution.hpp"
#include "metal.hpp"
#include "tensors.hpp"

using stand_in::require;

@implementation MPSGraphCompilationDescriptor
- (instancetype)init {
  if ((self = [super init])) self.optimizationLevel = MPSGraphOptimizationLevel1;
  return self;
}
- (void)disableTypeInference {
  // The stand-in infers nothing.
}
- (id)copyWithZone:(NSZone*)zone {
  MPSGraphCompilationDescriptor* copied = [MPSGraphCompilationDescriptor new];
  copied.optimizationLevel = self.optimizationLevel;
  copied.waitForCompilationCompletion = self.waitForCompilationCompletion;
  copied.compilationCompletionHandler = self.compilationCompletionHandler;
  return copied;
}
@end

@implementation MPSGraphExecutableExecutionDescriptor
- (id)copyWithZone:(NSZone*)zone {
  MPSGraphExecutableExecutionDescriptor* copied = [MPSGraphExecutableExecutionDescriptor new];
  copied.scheduledHandler = self.scheduledHandler;
  copied.completionHandler = self.completionHandler;
  copied.waitUntilCompleted = self.waitUntilCompleted;
  return copied;
}
@end

@implementation MPSGraphExecutableSerializationDescriptor
@end

namespace {

/// How far a run has come.
struct Progress {
  std::mutex mutex;
  std::condition_variable changed;
  bool executed = false;
  bool handled = false;

  void reach(bool Progress::* stage) {
    {
      const std::lock_guard lock(mutex);
      this->*stage = true;
    }
    changed.notify_all();
  }
  void wait_for(bool Progress::* stage) {
    std::unique_lock lock(mutex);
    changed.wait(lock, [&] { return this->*stage; });
  }
};

void check_data(const char* method, NSArray<MPSGraphTensorData*>* data, const std::vector<MPSGraphTensor*>& tensors) {
  require(data.count == tensors.size(), method, "the number of inputs or results differs from the executable's");
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    require(data[i].dataType == tensors[i]->_type, method, "the type of an input or result differs");
    require([data[i].shape isEqualToArray:tensors[i]->_shape], method, "the shape of an input or result differs");
  }
}

NSArray<MPSGraphTensorData*>* new_results(id<MTLDevice> device, const std::vector<MPSGraphTensor*>& targets) {
  NSMutableArray* results = [NSMutableArray array];
  for (MPSGraphTensor* target : targets) {
    MPSNDArrayDescriptor* descriptor = [MPSNDArrayDescriptor descriptorWithDataType:target->_type shape:target->_shape];
    MPSNDArray* array = [[MPSNDArray alloc] initWithDevice:device descriptor:descriptor];
    [results addObject:[[MPSGraphTensorData alloc] initWithMPSNDArray:array]];
  }
  return results;
}

NSArray<MPSGraphTensor*>* array_of(const std::vector<MPSGraphTensor*>& tensors) {
  return [NSArray arrayWithObjects:tensors.data() count:tensors.size()];
}

}  // namespace

@interface MPSGraphExecutable () {
 @public
  std::shared_ptr<const stand_in::Program> _program;
  std::vector<MPSGraphTensor*> _feeds;
  std::vector<MPSGraphTensor*> _targets;
  std::vector<MPSGraphOperation*> _owned;  ///< keeps the names of tensors without a graph
}
@end

@implementation MPSGraphExecutable
- (NSArray<MPSGraphTensor*>*)feedTensors {
  return array_of(_feeds);
}
- (NSArray<MPSGraphTensor*>*)targetTensors {
  return array_of(_targets);
}
- (std::vector<MPSGraphTensor*>)newTensorsLike:(const std::vector<MPSGraphTensor*>&)originals {
  std::vector<MPSGraphTensor*> tensors;
  for (MPSGraphTensor* original : originals) {
    _owned.push_back(stand_in::new_operation(nil, original->_operation->_name));
    tensors.push_back(stand_in::new_tensor(original->_shape, original->_type, _owned.back()));
  }
  return tensors;
}
- (void)specializeWithDevice:(MPSGraphDevice*)device
                  inputTypes:(NSArray<MPSGraphType*>*)types
       compilationDescriptor:(MPSGraphCompilationDescriptor*)descriptor {
  require(types.count == _program->feeds.size(), "specializeWithDevice:inputTypes:compilationDescriptor:",
          "the number of types differs from the number of feeds");
}
- (NSArray<MPSGraphShapedType*>*)getOutputTypesWithDevice:(MPSGraphDevice*)device
                                               inputTypes:(NSArray<MPSGraphType*>*)types
                                    compilationDescriptor:(MPSGraphCompilationDescriptor*)descriptor {
  NSMutableArray* outputs = [NSMutableArray array];
  for (MPSGraphTensor* target : _program->targets) {
    [outputs addObject:[[MPSGraphShapedType alloc] initWithShape:target->_shape dataType:target->_type]];
  }
  return outputs;
}

/// Results are written before the completion handler is called, on the queue's own thread.
- (NSArray<MPSGraphTensorData*>*)startOn:(id<MTLCommandQueue>)queue
                                  inputs:(NSArray<MPSGraphTensorData*>*)inputs
                                 results:(NSArray<MPSGraphTensorData*>*)given
                              descriptor:(MPSGraphExecutableExecutionDescriptor*)descriptor
                                progress:(std::shared_ptr<Progress>)progress {
  const std::shared_ptr<const stand_in::Program> program = _program;
  check_data("inputsArray", inputs, program->feeds);
  if (given) check_data("resultsArray", given, program->targets);
  NSArray<MPSGraphTensorData*>* fed = [inputs copy];
  NSArray<MPSGraphTensorData*>* results = given ? [given copy] : new_results(queue.device, program->targets);
  MPSGraphExecutableCompletionHandler handler = descriptor.completionHandler;
  stand_in::count_run();
  stand_in::enqueue(queue, [program, fed, results, handler, progress](NSError* error) {
    if (!error) {
      std::vector<stand_in::HostTensor> feeds;
      for (MPSGraphTensorData* data in fed) feeds.push_back(stand_in::read_tensor(data->_array));
      const std::vector<stand_in::HostTensor> values = stand_in::evaluate(*program, std::move(feeds));
      for (NSUInteger i = 0; i < results.count; ++i) stand_in::write_tensor(results[i]->_array, values[i]);
    }
    progress->reach(&Progress::executed);
    if (handler) handler(results, error);
    progress->reach(&Progress::handled);
  });
  return results;
}

- (NSArray<MPSGraphTensorData*>*)runWithMTLCommandQueue:(id<MTLCommandQueue>)queue
                                            inputsArray:(NSArray<MPSGraphTensorData*>*)inputs
                                           resultsArray:(NSArray<MPSGraphTensorData*>*)results
                                    executionDescriptor:(MPSGraphExecutableExecutionDescriptor*)descriptor {
  const auto progress = std::make_shared<Progress>();
  NSArray* written = [self startOn:queue inputs:inputs results:results descriptor:descriptor progress:progress];
  progress->wait_for(descriptor.waitUntilCompleted ? &Progress::handled : &Progress::executed);
  return written;
}

- (NSArray<MPSGraphTensorData*>*)runAsyncWithMTLCommandQueue:(id<MTLCommandQueue>)queue
                                                 inputsArray:(NSArray<MPSGraphTensorData*>*)inputs
                                                resultsArray:(NSArray<MPSGraphTensorData*>*)results
                                         executionDescriptor:(MPSGraphExecutableExecutionDescriptor*)descriptor {
  const auto progress = std::make_shared<Progress>();
  NSArray* written = [self startOn:queue inputs:inputs results:results descriptor:descriptor progress:progress];
  if (descriptor.waitUntilCompleted) progress->wait_for(&Progress::handled);
  return written;
}

- (void)serializeToMPSGraphPackageAtURL:(NSURL*)url descriptor:(MPSGraphExecutableSerializationDescriptor*)descriptor {
  stand_in::write_package(url.path.UTF8String, _program);
}
- (instancetype)initWithMPSGraphPackageAtURL:(NSURL*)url
                       compilationDescriptor:(MPSGraphCompilationDescriptor*)descriptor {
  if ((self = [super init])) {
    _program = stand_in::read_package(url.path.UTF8String);
    if (!_program) return nil;
    // A loaded executable knows nothing of the tensors that it was compiled from.
    _feeds = [self newTensorsLike:_program->feeds];
    _targets = [self newTensorsLike:_program->targets];
    stand_in::count_package_load();
  }
  return self;
}
@end

namespace stand_in {

MPSGraphExecutable* compile(MPSGraph* graph, MPSGraphTensorShapedTypeDictionary* feeds,
                            NSArray<MPSGraphTensor*>* targets) {
  MPSGraphExecutable* executable = [MPSGraphExecutable new];
  executable->_program = make_program(graph, feeds, targets);
  executable->_feeds = executable->_program->feeds;
  executable->_targets = executable->_program->targets;
  count_compilation();
  return executable;
}

}  // namespace stand_in
