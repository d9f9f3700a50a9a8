#include <algorithm>
#include <limits>

#include "metal/lowerings.hpp"
#include "metal/pooling_windows.hpp"
#include "metal/tensors.hpp"

namespace mpsgraph_native::metal {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

template <class Descriptor>
void set_flags(Descriptor* descriptor, const PoolingGeometry& geometry) {
  descriptor.ceilMode = NO;
  descriptor.includeZeroPadToAverage = geometry.include_zero_pad_to_average;
}

/// Of a macOS younger than the operations without indices.
template <class Descriptor>
void set_indices(Descriptor* descriptor, const PoolingGeometry& geometry) {
  descriptor.returnIndicesMode = static_cast<MPSGraphPoolingReturnIndicesMode>(geometry.return_indices_mode);
  descriptor.returnIndicesDataType = MPSDataTypeInt32;
}

template <class Attributes>
bool has_indices(const LoweringSite& site) {
  if constexpr (std::is_same_v<Attributes, MaxPooling2DGradient> || std::is_same_v<Attributes, MaxPooling4DGradient>)
    return site.inputs[1] == nil;  // no source
  return std::is_same_v<Attributes, MaxPooling2DReturnIndices> || std::is_same_v<Attributes, MaxPooling4DReturnIndices>;
}

MPSGraphPooling2DOpDescriptor* make_descriptor(const Pooling2DDescriptor& descriptor, const PoolingGeometry& geometry,
                                               const PoolingWindows& windows) {
  const std::size_t vertical = descriptor.data_layout == TensorNamedDataLayout::NHWC ? 1 : 2;
  const WindowAxis& y = windows.axes[vertical];
  const WindowAxis& x = windows.axes[vertical + 1];
  MPSGraphPooling2DOpDescriptor* result = [MPSGraphPooling2DOpDescriptor
      descriptorWithKernelWidth:static_cast<NSUInteger>(x.kernel)
                   kernelHeight:static_cast<NSUInteger>(y.kernel)
                      strideInX:static_cast<NSUInteger>(x.stride)
                      strideInY:static_cast<NSUInteger>(y.stride)
                dilationRateInX:static_cast<NSUInteger>(x.dilation)
                dilationRateInY:static_cast<NSUInteger>(y.dilation)
                    paddingLeft:static_cast<NSUInteger>(x.padding_before)
                   paddingRight:static_cast<NSUInteger>(x.padding_after)
                     paddingTop:static_cast<NSUInteger>(y.padding_before)
                  paddingBottom:static_cast<NSUInteger>(y.padding_after)
                   paddingStyle:MPSGraphPaddingStyleExplicit
                     dataLayout:static_cast<MPSGraphTensorNamedDataLayout>(descriptor.data_layout)];
  set_flags(result, geometry);
  return result;
}

MPSGraphPooling4DOpDescriptor* make_descriptor(const Pooling4DDescriptor&, const PoolingGeometry& geometry,
                                               const PoolingWindows& windows) {
  Shape kernels, strides, dilations, paddings;
  for (const WindowAxis& axis : windows.axes) {
    kernels.push_back(axis.kernel);
    strides.push_back(axis.stride);
    dilations.push_back(axis.dilation);
    paddings.push_back(axis.padding_before);
    paddings.push_back(axis.padding_after);
  }
  MPSGraphPooling4DOpDescriptor* result =
      [MPSGraphPooling4DOpDescriptor descriptorWithKernelSizes:shape_array(kernels)
                                                       strides:shape_array(strides)
                                                 dilationRates:shape_array(dilations)
                                                 paddingValues:shape_array(paddings)
                                                  paddingStyle:MPSGraphPaddingStyleExplicit];
  set_flags(result, geometry);
  return result;
}

/// One pooling operation and what stands around MPSGraph's.
template <class Attributes>
class Pooling {
 public:
  Pooling(const Attributes& attributes, const LoweringSite& site, const Shape& source)
      : attributes_(attributes),
        site_(site),
        geometry_(pooling_geometry(attributes.name, attributes.descriptor, source)),
        windows_(pooling_windows(geometry_)),
        descriptor_(make_descriptor(attributes.descriptor, geometry_, windows_)) {
    if (has_indices<Attributes>(site)) set_indices(descriptor_, geometry_);
  }

  MPSGraph* graph() const { return site_.graph; }
  auto descriptor() const { return descriptor_; }

  /// What MPSGraph computed, with `value` as the result of every window without a tap.
  MPSGraphTensor* completed(MPSGraphTensor* tensor, double value, DataType dtype) const {
    tensor = replaced(tensor, value, dtype);
    if (!windows_.trimmed()) return tensor;
    Shape before = windows_.result, after = windows_.result;
    for (int axis = 0; axis < before.rank(); ++axis) {
      before[axis] = 0;
      after[axis] -= windows_.computed[axis];
    }
    return padded(graph(), tensor, before, after, value);
  }

  /// The part of an operand of the result's shape that belongs to windows with a tap; 0 for those that stay in between.
  MPSGraphTensor* trimmed(std::size_t index, MPSGraphTensor* tensor, DataType dtype) const {
    if (windows_.trimmed()) {
      std::vector<SliceAxis> axes;
      for (const std::int64_t size : windows_.computed) axes.push_back({0, 1, size});
      tensor = sliced(graph(), tensor, axes);
    }
    tensor = replaced(tensor, 0, dtype);
    const bool view =
        windows_.trimmed() || (index == 0 && concerned(Fault::StridedPoolingGradient, attributes_, site_));
    return view ? copied(graph(), tensor, windows_.computed) : tensor;
  }

 private:
  MPSGraphTensor* replaced(MPSGraphTensor* tensor, double value, DataType dtype) const {
    for (std::size_t i = 0; i < 4; ++i) {
      const std::vector<bool>& taps = windows_.taps[i];
      if (taps.empty()) continue;
      Shape shape = windows_.computed;
      const int pooled = shape.rank() - 4 + static_cast<int>(i);
      for (int axis = 0; axis < shape.rank(); ++axis)
        if (axis != pooled) shape[axis] = 1;
      const std::vector<std::uint8_t> bytes(taps.begin(), taps.end());
      MPSGraphTensor* has_tap = [graph() constantWithData:[NSData dataWithBytes:bytes.data() length:bytes.size()]
                                                    shape:shape_array(shape)
                                                 dataType:MPSDataTypeBool];
      tensor = [graph() selectWithPredicateTensor:has_tap
                              truePredicateTensor:tensor
                             falsePredicateTensor:filled(graph(), value, {dtype, {}})
                                             name:nil];
    }
    return tensor;
  }

  const Attributes& attributes_;
  const LoweringSite& site_;
  PoolingGeometry geometry_;
  PoolingWindows windows_;
  decltype(make_descriptor(Attributes().descriptor, PoolingGeometry(), PoolingWindows())) descriptor_;
};

/// `add` takes the source and the descriptor.
template <class Attributes, class Add>
Lowered lower_forward(const Attributes& attributes, const LoweringSite& site, double value, Add&& add) {
  const Pooling pooling(attributes, site, site.input_types[0]->shape);
  return {pooling.completed(add(site.inputs[0], pooling.descriptor()), value, site.output_types[0].dtype)};
}

/// `add` takes the source and the descriptor, and gives values and indices.
template <class Attributes, class Add>
Lowered lower_return_indices(const Attributes& attributes, const LoweringSite& site, Add&& add) {
  const Pooling pooling(attributes, site, site.input_types[0]->shape);
  MPSGraphTensor* source = site.inputs[0];
  if (concerned(Fault::PaddedPoolingSource, attributes, site))
    source = copied(site.graph, source, site.input_types[0]->shape);
  NSArray<MPSGraphTensor*>* results = add(source, pooling.descriptor());
  return {pooling.completed(results[0], -infinity, site.output_types[0].dtype),
          pooling.completed(results[1], -1, DataType::Int32)};
}

/// `add` takes gradient, source and descriptor.
template <class Attributes, class Add>
Lowered lower_gradient(const Attributes& attributes, const LoweringSite& site, Add&& add) {
  const Pooling pooling(attributes, site, site.output_types[0].shape);
  MPSGraphTensor* gradient = pooling.trimmed(0, site.inputs[0], site.output_types[0].dtype);
  return {add(gradient, site.inputs[1], pooling.descriptor())};
}

/// `add_source` takes gradient, source and descriptor; `add_indices` gradient, indices and descriptor.
template <class Attributes, class AddSource, class AddIndices>
Lowered lower_max_gradient(const Attributes& attributes, const LoweringSite& site, AddSource&& add_source,
                           AddIndices&& add_indices) {
  if (site.inputs[1]) return lower_gradient(attributes, site, add_source);
  const Pooling pooling(attributes, site, site.output_types[0].shape);
  MPSGraphTensor* indices = site.inputs[2];
  if (concerned(Fault::Int64Indices, attributes, site)) indices = converted(site.graph, indices, DataType::Int32);
  return {add_indices(pooling.trimmed(0, site.inputs[0], site.output_types[0].dtype),
                      pooling.trimmed(2, indices, DataType::Int32), pooling.descriptor())};
}

}  // namespace

Lowered lower(const MaxPooling2D& attributes, const LoweringSite& site) {
  return lower_forward(attributes, site, -infinity, [&](MPSGraphTensor* source, auto descriptor) {
    return [site.graph maxPooling2DWithSourceTensor:source descriptor:descriptor name:nil];
  });
}

Lowered lower(const MaxPooling4D& attributes, const LoweringSite& site) {
  return lower_forward(attributes, site, -infinity, [&](MPSGraphTensor* source, auto descriptor) {
    return [site.graph maxPooling4DWithSourceTensor:source descriptor:descriptor name:nil];
  });
}

Lowered lower(const AvgPooling2D& attributes, const LoweringSite& site) {
  return lower_forward(attributes, site, 0, [&](MPSGraphTensor* source, auto descriptor) {
    return [site.graph avgPooling2DWithSourceTensor:source descriptor:descriptor name:nil];
  });
}

Lowered lower(const AvgPooling4D& attributes, const LoweringSite& site) {
  return lower_forward(attributes, site, 0, [&](MPSGraphTensor* source, auto descriptor) {
    return [site.graph avgPooling4DWithSourceTensor:source descriptor:descriptor name:nil];
  });
}

Lowered lower(const L2NormPooling4D& attributes, const LoweringSite& site) {
  return lower_forward(attributes, site, 0, [&](MPSGraphTensor* source, auto descriptor) {
    return [site.graph L2NormPooling4DWithSourceTensor:source descriptor:descriptor name:nil];
  });
}

Lowered lower(const MaxPooling2DReturnIndices& attributes, const LoweringSite& site) {
  return lower_return_indices(attributes, site, [&](MPSGraphTensor* source, auto descriptor) {
    return [site.graph maxPooling2DReturnIndicesWithSourceTensor:source descriptor:descriptor name:nil];
  });
}

Lowered lower(const MaxPooling4DReturnIndices& attributes, const LoweringSite& site) {
  return lower_return_indices(attributes, site, [&](MPSGraphTensor* source, auto descriptor) {
    return [site.graph maxPooling4DReturnIndicesWithSourceTensor:source descriptor:descriptor name:nil];
  });
}

Lowered lower(const MaxPooling2DGradient& attributes, const LoweringSite& site) {
  return lower_max_gradient(
      attributes, site,
      [&](MPSGraphTensor* gradient, MPSGraphTensor* source, auto descriptor) {
        return [site.graph maxPooling2DGradientWithGradientTensor:gradient
                                                     sourceTensor:source
                                                       descriptor:descriptor
                                                             name:nil];
      },
      [&](MPSGraphTensor* gradient, MPSGraphTensor* indices, auto descriptor) {
        return [site.graph maxPooling2DGradientWithGradientTensor:gradient
                                                    indicesTensor:indices
                                                      outputShape:shape_array(attributes.output_shape)
                                                       descriptor:descriptor
                                                             name:nil];
      });
}

Lowered lower(const MaxPooling4DGradient& attributes, const LoweringSite& site) {
  return lower_max_gradient(
      attributes, site,
      [&](MPSGraphTensor* gradient, MPSGraphTensor* source, auto descriptor) {
        return [site.graph maxPooling4DGradientWithGradientTensor:gradient
                                                     sourceTensor:source
                                                       descriptor:descriptor
                                                             name:nil];
      },
      [&](MPSGraphTensor* gradient, MPSGraphTensor* indices, auto descriptor) {
        return [site.graph maxPooling4DGradientWithGradientTensor:gradient
                                                    indicesTensor:indices
                                                      outputShape:shape_array(attributes.output_shape)
                                                       descriptor:descriptor
                                                             name:nil];
      });
}

Lowered lower(const AvgPooling2DGradient& attributes, const LoweringSite& site) {
  return lower_gradient(attributes, site, [&](MPSGraphTensor* gradient, MPSGraphTensor* source, auto descriptor) {
    return [site.graph avgPooling2DGradientWithGradientTensor:gradient
                                                 sourceTensor:source
                                                   descriptor:descriptor
                                                         name:nil];
  });
}

Lowered lower(const AvgPooling4DGradient& attributes, const LoweringSite& site) {
  return lower_gradient(attributes, site, [&](MPSGraphTensor* gradient, MPSGraphTensor* source, auto descriptor) {
    return [site.graph avgPooling4DGradientWithGradientTensor:gradient
                                                 sourceTensor:source
                                                   descriptor:descriptor
                                                         name:nil];
  });
}

Lowered lower(const L2NormPooling4DGradient& attributes, const LoweringSite& site) {
  return lower_gradient(attributes, site, [&](MPSGraphTensor* gradient, MPSGraphTensor* source, auto descriptor) {
    MPSGraphTensor* result = [site.graph L2NormPooling4DGradientWithGradientTensor:gradient
                                                                      sourceTensor:source
                                                                        descriptor:descriptor
                                                                              name:nil];
    // A window whose norm is 0 may divide 0 by 0. All it holds is 0, and there the gradient is 0.
    MPSGraphTensor* zero = filled(site.graph, 0, {site.output_types[0].dtype, {}});
    MPSGraphTensor* is_zero = [site.graph equalWithPrimaryTensor:source secondaryTensor:zero name:nil];
    return [site.graph selectWithPredicateTensor:is_zero truePredicateTensor:zero falsePredicateTensor:result name:nil];
  });
}

}  // namespace mpsgraph_native::metal
