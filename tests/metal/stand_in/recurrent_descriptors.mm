#import <MetalPerformanceShadersGraph/MetalPerformanceShadersGraph.h>

@implementation MPSGraphSingleGateRNNDescriptor
- (instancetype)init {
  if ((self = [super init])) self.activation = MPSGraphRNNActivationRelu;
  return self;
}
+ (instancetype)descriptor {
  return [[self alloc] init];
}
- (id)copyWithZone:(NSZone*)zone {
  MPSGraphSingleGateRNNDescriptor* copied = [MPSGraphSingleGateRNNDescriptor descriptor];
  copied.reverse = self.reverse;
  copied.bidirectional = self.bidirectional;
  copied.training = self.training;
  copied.activation = self.activation;
  return copied;
}
@end

@implementation MPSGraphLSTMDescriptor
- (instancetype)init {
  if ((self = [super init])) {
    self.inputGateActivation = MPSGraphRNNActivationSigmoid;
    self.forgetGateActivation = MPSGraphRNNActivationSigmoid;
    self.cellGateActivation = MPSGraphRNNActivationTanh;
    self.outputGateActivation = MPSGraphRNNActivationSigmoid;
    self.activation = MPSGraphRNNActivationTanh;
  }
  return self;
}
+ (instancetype)descriptor {
  return [[self alloc] init];
}
- (id)copyWithZone:(NSZone*)zone {
  MPSGraphLSTMDescriptor* copied = [MPSGraphLSTMDescriptor descriptor];
  copied.reverse = self.reverse;
  copied.bidirectional = self.bidirectional;
  copied.produceCell = self.produceCell;
  copied.training = self.training;
  copied.forgetGateLast = self.forgetGateLast;
  copied.inputGateActivation = self.inputGateActivation;
  copied.forgetGateActivation = self.forgetGateActivation;
  copied.cellGateActivation = self.cellGateActivation;
  copied.outputGateActivation = self.outputGateActivation;
  copied.activation = self.activation;
  return copied;
}
@end

@implementation MPSGraphGRUDescriptor
- (instancetype)init {
  if ((self = [super init])) {
    self.updateGateActivation = MPSGraphRNNActivationSigmoid;
    self.resetGateActivation = MPSGraphRNNActivationSigmoid;
    self.outputGateActivation = MPSGraphRNNActivationTanh;
  }
  return self;
}
+ (instancetype)descriptor {
  return [[self alloc] init];
}
- (id)copyWithZone:(NSZone*)zone {
  MPSGraphGRUDescriptor* copied = [MPSGraphGRUDescriptor descriptor];
  copied.reverse = self.reverse;
  copied.bidirectional = self.bidirectional;
  copied.training = self.training;
  copied.resetGateFirst = self.resetGateFirst;
  copied.resetAfter = self.resetAfter;
  copied.flipZ = self.flipZ;
  copied.updateGateActivation = self.updateGateActivation;
  copied.resetGateActivation = self.resetGateActivation;
  copied.outputGateActivation = self.outputGateActivation;
  return copied;
}
@end
