#include "cpu/convolution_flat.hpp"

#include <algorithm>

namespace mpsgraph_native::cpu {
namespace {

/// The channels of an image as planes: where they lie, or copied.
template <class T>
const T* as_planes(const MatrixKernels<T>& matrix, const ImageTensor& tensor, const T* image, T* copy) {
  if (!tensor.channels_last) return image;
  const std::int64_t pixels = tensor.height * tensor.width;
  matrix.transpose(image, tensor.channels, pixels, tensor.channels, copy, pixels);
  return copy;
}

}  // namespace

FlatImages::Part::Part(const CorrelationAxis& axis, std::int64_t extent)
    : input(std::max<std::int64_t>(axis.origin, 0)),
      padded(input - axis.origin),
      count(std::max<std::int64_t>(std::min(axis.input, axis.origin + extent) - input, 0)) {}

FlatImages::FlatImages(const ImageTensor& input, const CorrelationAxis& y, const CorrelationAxis& x, int lanes)
    : input_(input),
      y_(y),
      x_(x),
      pitch_(extent(x)),
      vectors_(((y.outputs - 1) * pitch_ + x.outputs + lanes - 1) / lanes),
      line_(vectors_ * lanes),
      // The last tap of the last vector may reach beyond the last row.
      plane_(std::max(extent(y) * pitch_, (y.taps - 1) * y.dilation * pitch_ + (x.taps - 1) * x.dilation + line_)),
      rows_(y, extent(y)),
      columns_(x, pitch_) {}

bool FlatImages::fits(const CorrelationAxis& y, const CorrelationAxis& x, std::int64_t elements) {
  const auto plain = [](const CorrelationAxis& axis) { return axis.stride == 1 && axis.result_step == 1; };
  return plain(y) && plain(x) && extent(y) <= elements / extent(x);
}

template <class T>
void FlatImages::pad(const FlatConvolutionKernels<T>& kernels, const T* planes, T* padded) const {
  if (columns_.count == 0) return;
  kernels.copy_lines({input_.channels, rows_.count, columns_.count,
                      planes + rows_.input * input_.width + columns_.input, input_.height * input_.width, input_.width,
                      padded + rows_.padded * pitch_ + columns_.padded, plane_, pitch_});
}

std::vector<std::int32_t> FlatImages::tap_offsets(std::int64_t channels) const {
  std::vector<std::int32_t> offsets;
  for (std::int64_t c = 0; c < channels; ++c)
    for (std::int64_t j = 0; j < y_.taps; ++j)
      for (std::int64_t i = 0; i < x_.taps; ++i)
        offsets.push_back(static_cast<std::int32_t>(c * plane_ + j * y_.dilation * pitch_ + i * x_.dilation));
  return offsets;
}

template <class T>
FlatCorrelation<T>::FlatCorrelation(const CorrelationSizes& sizes, const CorrelationAxis& y, const CorrelationAxis& x,
                                    ScratchLayout& scratch)
    : matrix_(kernels<T>().matrix),
      kernels_(kernels<T>().flat_convolution),
      sizes_(sizes),
      images_(sizes.input, y, x, kernels_.lanes),
      source_offsets_(images_.tap_offsets(sizes.channels)) {
  const std::vector<std::int64_t> kernel = kernel_offsets(sizes.weights, y, x);
  for (std::int64_t c = 0; c < sizes.channels; ++c)
    for (const std::int64_t offset : kernel)
      weights_offsets_.push_back(static_cast<std::int32_t>(c * sizes.weights.channel + offset));
  padded_ = scratch.reserve<T>(sizes.input.channels * images_.plane());
  lines_ = scratch.reserve<T>(sizes.result.channels * images_.line());
  if (sizes.input.channels_last) input_planes_ = scratch.reserve<T>(sizes.input.image_stride());
  if (sizes.result.channels_last) result_planes_ = scratch.reserve<T>(sizes.result.image_stride());
}

template <class T>
void FlatCorrelation<T>::run(const Invocation& invocation, const T* input, const T* weights, T* result) const {
  const ImageTensor& out = sizes_.result;
  const std::int64_t pixels = out.height * out.width;
  T* padded = shared(invocation, padded_);
  T* lines = shared(invocation, lines_);
  // The padding, which all images share.
  std::fill_n(padded, sizes_.input.channels * images_.plane(), T(0));
  for (std::int64_t n = 0; n < sizes_.batch; ++n, input += sizes_.input.image_stride(), result += out.image_stride()) {
    images_.pad(kernels_, as_planes(matrix_, sizes_.input, input, shared(invocation, input_planes_)), padded);
    for (std::int64_t group = 0; group < sizes_.groups; ++group)
      kernels_.correlate({sizes_.rows, static_cast<std::int64_t>(source_offsets_.size()), images_.vectors(),
                          weights + group * sizes_.weights.group, sizes_.weights.row, weights_offsets_.data(),
                          padded + group * sizes_.channels * images_.plane(), source_offsets_.data(),
                          lines + group * sizes_.rows * images_.line(), images_.line()});
    T* planes = out.channels_last ? shared(invocation, result_planes_) : result;
    kernels_.copy_lines(
        {out.channels, out.height, out.width, lines, images_.line(), images_.pitch(), planes, pixels, out.width});
    if (out.channels_last) matrix_.transpose(planes, pixels, out.channels, pixels, result, out.channels);
  }
}

template <class T>
FlatWeightsGradient<T>::FlatWeightsGradient(const WeightsGradientSizes& sizes, ScratchLayout& scratch)
    : matrix_(kernels<T>().matrix),
      kernels_(kernels<T>().flat_convolution),
      sizes_(sizes),
      images_(sizes.source, sizes.y, sizes.x, kernels_.lanes),
      source_offsets_(images_.tap_offsets(sizes.input_channels)) {
  if (sizes.output_last) {
    // Channels innermost, as in the result.
    const std::size_t channels = static_cast<std::size_t>(sizes.input_channels);
    const std::size_t taps = source_offsets_.size() / channels;
    const std::vector<std::int32_t> offsets = source_offsets_;
    for (std::size_t i = 0; i < offsets.size(); ++i) source_offsets_[i] = offsets[i % channels * taps + i / channels];
  }
  padded_ = scratch.reserve<T>(sizes.batch * sizes.source.channels * images_.plane());
  lines_ = scratch.reserve<T>(sizes.batch * sizes.incoming.channels * images_.line());
  if (sizes.source.channels_last)
    planes_ = scratch.reserve<T>(std::max(sizes.source.image_stride(), sizes.incoming.image_stride()));
}

template <class T>
bool FlatWeightsGradient<T>::run(const Invocation& invocation, const T* incoming, const T* source, T* result) const {
  const ImageTensor& gradient = sizes_.incoming;
  const std::int64_t padded_image = sizes_.source.channels * images_.plane();
  const std::int64_t line_image = gradient.channels * images_.line();
  T* padded = shared(invocation, padded_);
  T* lines = shared(invocation, lines_);
  T* planes = shared(invocation, planes_);
  std::fill_n(padded, sizes_.batch * padded_image, T(0));
  std::fill_n(lines, sizes_.batch * line_image, T(0));
  for (std::int64_t n = 0; n < sizes_.batch; ++n) {
    images_.pad(kernels_, as_planes(matrix_, sizes_.source, source + n * sizes_.source.image_stride(), planes),
                padded + n * padded_image);
    kernels_.copy_lines({gradient.channels, gradient.height, gradient.width,
                         as_planes(matrix_, gradient, incoming + n * gradient.image_stride(), planes),
                         gradient.height * gradient.width, gradient.width, lines + n * line_image, images_.line(),
                         images_.pitch()});
  }
  const std::int64_t columns = static_cast<std::int64_t>(source_offsets_.size());
  const std::int64_t outputs = sizes_.output_channels;
  bool finite = true;
  for (std::int64_t group = 0; group < sizes_.groups; ++group) {
    const std::int64_t first = group * outputs;
    finite &=
        kernels_.multiply({outputs, columns, sizes_.batch, images_.vectors(), lines + first * images_.line(),
                           line_image, images_.line(), padded + group * sizes_.input_channels * images_.plane(),
                           padded_image, source_offsets_.data(), result + first * (sizes_.output_last ? 1 : columns),
                           sizes_.output_last ? 1 : columns, sizes_.output_last ? gradient.channels : 1});
  }
  return finite;
}

template class FlatCorrelation<float>;
template class FlatCorrelation<double>;
template class FlatWeightsGradient<float>;
template class FlatWeightsGradient<double>;

}  // namespace mpsgraph_native::cpu
