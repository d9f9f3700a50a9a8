#include "lines.hpp"

using namespace stand_in;

namespace {

/// How the losses are put together. Axis is another name of None.
struct Loss {
  Dims shape;
  std::size_t axis;
  MPSGraphLossReductionType reduction;

  std::int64_t losses() const { return count(shape) / shape[axis]; }
  bool reduced() const { return reduction != MPSGraphLossReductionTypeNone; }
  Dims result() const {
    if (reduced()) return {1};
    Dims result = shape;
    result[axis] = 1;
    return result;
  }
};

Loss loss_of(const Site& site, MPSGraphTensor* source, MPSGraphTensor* labels, NSInteger axis,
             MPSGraphLossReductionType reduction) {
  const Dims shape = site.shape(source);
  site.require(site.shape(labels) == shape, "the labels do not have the shape of the source");
  site.require(reduction <= MPSGraphLossReductionTypeMean, "the reduction type is no member of its enumeration");
  return {shape, site.axis(axis, shape.size()), reduction};
}

}  // namespace

@implementation MPSGraph (MPSGraphLossOps)
- (MPSGraphTensor*)softMaxCrossEntropyWithSourceTensor:(MPSGraphTensor*)source
                                          labelsTensor:(MPSGraphTensor*)labels
                                                  axis:(NSInteger)axis
                                         reductionType:(MPSGraphLossReductionType)reductionType
                                                  name:(NSString*)name {
  const Site site{self, "softMaxCrossEntropy"};
  const Loss loss = loss_of(site, source, labels, axis, reductionType);
  return site.add_one({source, labels}, {loss.result(), site.floating_type({source, labels})},
                      [loss](const Operands& in) {
                        const Values logarithms = log_softmax(in[0].values, loss.shape, loss.axis);
                        Values losses;
                        each_line(loss.shape, loss.axis, [&](std::size_t first, std::size_t step, std::size_t length) {
                          Value sum = 0;
                          for (std::size_t k = 0; k < length; ++k)
                            sum -= in[1].values[first + k * step] * logarithms[first + k * step];
                          losses.push_back(sum);
                        });
                        if (!loss.reduced()) return losses;
                        Value total = 0;
                        for (const Value value : losses) total += value;
                        if (loss.reduction == MPSGraphLossReductionTypeMean) total /= loss.losses();
                        return Values{total};
                      });
}
- (MPSGraphTensor*)softMaxCrossEntropyGradientWithIncomingGradientTensor:(MPSGraphTensor*)gradient
                                                            sourceTensor:(MPSGraphTensor*)source
                                                            labelsTensor:(MPSGraphTensor*)labels
                                                                    axis:(NSInteger)axis
                                                           reductionType:(MPSGraphLossReductionType)reductionType
                                                                    name:(NSString*)name {
  const Site site{self, "softMaxCrossEntropyGradient"};
  const Loss loss = loss_of(site, source, labels, axis, reductionType);
  const Dims incoming = site.shape(gradient);
  site.require(loss.reduced() ? count(incoming) == 1 : incoming == loss.result(),
               "the incoming gradient does not have the shape of the loss");
  return site.add_one({gradient, source, labels}, {loss.shape, site.floating_type({gradient, source, labels})},
                      [loss](const Operands& in) {
                        Values result = softmax(in[1].values, loss.shape, loss.axis);
                        std::size_t line = 0;
                        each_line(loss.shape, loss.axis, [&](std::size_t first, std::size_t step, std::size_t length) {
                          Value g = in[0].values[loss.reduced() ? 0 : line++], sum = 0;
                          if (loss.reduction == MPSGraphLossReductionTypeMean) g /= loss.losses();
                          for (std::size_t k = 0; k < length; ++k) sum += in[2].values[first + k * step];
                          for (std::size_t k = 0; k < length; ++k) {
                            const std::size_t i = first + k * step;
                            result[i] = g * (result[i] * sum - in[2].values[i]);
                          }
                        });
                        return result;
                      });
}
@end
