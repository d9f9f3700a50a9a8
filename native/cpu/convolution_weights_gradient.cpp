#include "cpu/convolution_weights_gradient.hpp"

#include <algorithm>

#include "graph/division.hpp"

namespace mpsgraph_native::cpu {
namespace {

// Panels of a block's gradient and the planes of the channels that they meet share the outer cache: either those of
// all channels and one panel after the other, or, where these are too large even for a small block, all panels and a
// few channels after the other.
constexpr std::int64_t block_bytes[] = {3136, 1568, 784};  // of one channel: 784 floats
constexpr std::int64_t all_planes_bytes = 512 << 10, plane_bytes = 256 << 10;
constexpr std::int64_t incoming_bytes = 4 << 20;
// Up to this size each thread has accumulators of its own, so that threads can split the pixels.
constexpr std::int64_t private_bytes = 2 << 20;
// Sums over long ranges of pixels are taken in sections, so that the error grows with the root of their length and
// a sum of small integers stays exact while it fits.
constexpr std::int64_t blocks_per_section = 32;

template <class T>
constexpr std::int64_t elements_of(std::int64_t bytes) {
  return bytes / static_cast<std::int64_t>(sizeof(T));
}

}  // namespace

template <class T>
WeightsGradient<T>::WeightsGradient(const WeightsGradientSizes& sizes, ScratchLayout& shared_scratch,
                                    ScratchLayout& thread_scratch)
    : kernels_(kernels<T>().matrix),
      panel_(panel_for_rows(kernels_, sizes.output_channels)),
      sizes_(sizes),
      taps_(sizes.y.taps * sizes.x.taps) {
  // Channels of their own planes are read along the pixels, which needs no copy unless there is padding.
  const bool in_place = !sizes.source.channels_last && sizes.y.inside() && sizes.x.inside();
  const auto cut = [&](std::int64_t bytes, std::int64_t budget) {
    blocks_ = PixelBlocks(sizes.batch, sizes.y.outputs, sizes.x.outputs, elements_of<T>(bytes));
    planes_ =
        InputPlanes(sizes.source, sizes.input_channels, sizes.y, sizes.x, blocks_.largest(), elements_of<T>(budget));
    return planes_.channels_at_once() == sizes.input_channels;
  };
  const bool all_channels =
      std::ranges::any_of(block_bytes, [&](std::int64_t bytes) { return cut(bytes, all_planes_bytes); });
  if (!all_channels) cut(block_bytes[0], plane_bytes);
  const PixelBlock& largest = blocks_.largest();
  if (in_place) planes_ = InputPlanes::in_place(sizes.source, sizes.input_channels, sizes.y, sizes.x, largest);
  pixel_offsets_ = planes_.pixel_offsets();
  tap_offsets_ = planes_.tap_offsets(sizes.y, sizes.x);
  const std::int64_t all_elements = sizes.groups * group_elements();
  totals_per_thread_ = all_elements <= elements_of<T>(private_bytes);
  ScratchLayout& accumulators = totals_per_thread_ ? thread_scratch : shared_scratch;
  totals_ = accumulators.template reserve<T>(all_elements);
  if (blocks_.count() > blocks_per_section) sections_ = accumulators.template reserve<T>(all_elements);
  const std::int64_t panel_elements = largest.pixels() * panel_.width;
  if (!all_channels)
    panels_at_once_ = std::clamp<std::int64_t>(elements_of<T>(incoming_bytes) / panel_elements, 1, panels());
  incoming_slot_ = thread_scratch.reserve<T>(panels_at_once_ * panel_elements);
  plane_slot_ = thread_scratch.reserve<T>(planes_.elements());
  column_slot_ = thread_scratch.reserve<const T*>(planes_.channels_at_once() * taps_);
}

template <class T>
std::int64_t WeightsGradient<T>::panel_rows(std::int64_t panel) const {
  return std::min<std::int64_t>(panel_.width, sizes_.output_channels - panel * panel_.width);
}

template <class T>
T* WeightsGradient<T>::totals(const Invocation& invocation, std::int64_t chunk) const {
  return totals_per_thread_ ? per_thread(invocation, chunk, totals_) : shared(invocation, totals_);
}

template <class T>
T* WeightsGradient<T>::sections(const Invocation& invocation, std::int64_t chunk) const {
  return totals_per_thread_ ? per_thread(invocation, chunk, sections_) : shared(invocation, sections_);
}

template <class T>
MemoryRuns WeightsGradient<T>::incoming_panel(const T* incoming, std::int64_t group, std::int64_t panel,
                                              const PixelBlock& block) const {
  const ImageTensor& tensor = sizes_.incoming;
  if (block.columns < tensor.width) return {};
  constexpr std::int64_t size = sizeof(T);
  const std::int64_t channel_bytes = tensor.channel_stride() * size;
  const std::int64_t rows = panel_rows(panel), pixels = block.rows * block.columns;
  const auto* run =
      reinterpret_cast<const char*>(incoming + block.image * tensor.image_stride() + block.y * tensor.row_stride() +
                                    (group * sizes_.output_channels + panel * panel_.width) * tensor.channel_stride());
  if (tensor.channels_last) return {run, rows * size, tensor.channels * size, block.images * pixels};
  // Whole planes follow each other.
  if (block.rows == tensor.height) return {run, rows * channel_bytes, tensor.image_stride() * size, block.images};
  return {run, pixels * size, channel_bytes, rows};
}

template <class T>
void WeightsGradient<T>::pack_incoming(const T* incoming, std::int64_t group, std::int64_t panel,
                                       const PixelBlock& block, T* packed) const {
  const ImageTensor& tensor = sizes_.incoming;
  const std::int64_t rows = panel_rows(panel);
  const bool rows_join = block.columns == tensor.width;
  const std::int64_t lines = rows_join ? 1 : block.rows;
  const std::int64_t length = rows_join ? block.rows * block.columns : block.columns;
  incoming += block.image * tensor.image_stride() + block.y * tensor.row_stride() + block.x * tensor.column_stride() +
              (group * sizes_.output_channels + panel * panel_.width) * tensor.channel_stride();
  for (std::int64_t n = 0; n < block.images; ++n, incoming += tensor.image_stride())
    for (std::int64_t line = 0; line < lines; ++line, packed += length * panel_.width) {
      const T* from = incoming + line * tensor.row_stride();
      if (tensor.channels_last)
        panel_.pack_columns(from, tensor.channels, rows, length, packed);
      else
        panel_.pack_rows(from, tensor.channel_stride(), rows, length, packed);
    }
}

template <class T>
void WeightsGradient<T>::accumulate_block(const Invocation& invocation, std::int64_t chunk, const T* incoming,
                                          const T* source, const Part& part, const PixelBlock& block,
                                          const PixelBlock& next, bool accumulate, T* accumulators) const {
  const std::int64_t width = panel_.width;
  const std::int64_t pixels = block.pixels();
  T* packed = per_thread(invocation, chunk, incoming_slot_);
  T* planes = per_thread(invocation, chunk, plane_slot_);
  const T** column = per_thread(invocation, chunk, column_slot_);
  const std::int64_t first_channel = part.group * sizes_.input_channels;
  const std::int64_t at_once = planes_.channels_at_once();
  const bool all_channels = part.channels.end - part.channels.begin <= at_once;
  Prefetch prefetch;
  if (all_channels)
    prefetch.second =
        planes_.source(source, next, first_channel + part.channels.begin, part.channels.end - part.channels.begin);
  for (std::int64_t first = part.panels.begin; first < part.panels.end; first += panels_at_once_) {
    const std::int64_t last = std::min(first + panels_at_once_, part.panels.end);
    for (std::int64_t panel = first; panel < last; ++panel)
      pack_incoming(incoming, part.group, panel, block, packed + (panel - first) * pixels * width);
    prefetch.first = last < part.panels.end ? incoming_panel(incoming, part.group, last, block)
                                            : incoming_panel(incoming, part.group, part.panels.begin, next);
    for (std::int64_t c = part.channels.begin; c < part.channels.end; c += at_once) {
      const std::int64_t channels = std::min(at_once, part.channels.end - c);
      if (!all_channels || first == part.panels.begin) {
        const T* base = planes_.prepare(kernels_, source, block, first_channel + c, channels, planes);
        for (std::int64_t i = 0; i < channels * taps_; ++i)
          column[i] = base + tap_offsets_[static_cast<std::size_t>(i)];
      }
      for (std::int64_t panel = first; panel < last; ++panel)
        panel_.multiply_and_fetch(pixels, packed + (panel - first) * pixels * width, pixel_offsets_.data(), column,
                                  channels * taps_, accumulators + (panel * columns() + c * taps_) * width, width,
                                  accumulate, prefetch);
    }
  }
}

/// Sums the blocks into the part's accumulators. Both areas begin at the part's group.
template <class T>
void WeightsGradient<T>::accumulate(const Invocation& invocation, std::int64_t chunk, const T* incoming,
                                    const T* source, const Part& part, Range blocks, T* totals, T* sections) const {
  const std::int64_t count = blocks.end - blocks.begin;
  const std::int64_t section_count = ceil_divide(count, blocks_per_section);
  for (std::int64_t section = 0; section < section_count; ++section) {
    const Range range = split_range(count, section, section_count);
    T* sums = section == 0 ? totals : sections;
    for (std::int64_t b = range.begin; b < range.end; ++b) {
      const std::int64_t next = b + 1 < count ? b + 1 : b;
      accumulate_block(invocation, chunk, incoming, source, part, blocks_[blocks.begin + b],
                       blocks_[blocks.begin + next], b > range.begin, sums);
    }
    if (section == 0) continue;
    const std::int64_t elements = (part.channels.end - part.channels.begin) * taps_ * panel_.width;
    for (std::int64_t panel = part.panels.begin; panel < part.panels.end; ++panel) {
      const std::int64_t offset = (panel * columns() + part.channels.begin * taps_) * panel_.width;
      kernels_.add(sections + offset, elements, totals + offset);
    }
  }
}

/// Every chunk sums its share of the pixels for all weights.
template <class T>
void WeightsGradient<T>::split_pixels(const Invocation& invocation, const T* incoming, const T* source,
                                      std::int64_t chunks) const {
  parallel_for(chunks, [&](std::int64_t chunk) {
    for (std::int64_t group = 0; group < sizes_.groups; ++group) {
      const Part part{group, {0, panels()}, {0, sizes_.input_channels}};
      const std::int64_t offset = group * group_elements();
      accumulate(invocation, chunk, incoming, source, part, split_range(blocks_.count(), chunk, chunks),
                 totals(invocation, chunk) + offset, sections(invocation, chunk) + offset);
    }
  });
}

/// Every chunk sums all pixels for its share of the weights.
template <class T>
void WeightsGradient<T>::split_weights(const Invocation& invocation, const T* incoming, const T* source,
                                       std::int64_t threads) const {
  // Splitting panels repeats the copies of the source, splitting channels those of the gradient.
  const std::int64_t most_parts = std::max<std::int64_t>(ceil_divide(threads, sizes_.groups), 1);
  std::int64_t panel_parts = 1, channel_parts = 1;
  double best = 0;
  for (std::int64_t p = 1; p <= std::min(most_parts, panels()); ++p) {
    const std::int64_t c = std::min(most_parts / p, sizes_.input_channels);
    const double part_panels = static_cast<double>(ceil_divide(panels(), p));
    const double part_channels = static_cast<double>(ceil_divide(sizes_.input_channels, c));
    const double cost = part_panels * part_channels * static_cast<double>(taps_ * panel_.vectors) +
                        0.5 * (part_panels * panel_.width + part_channels);
    if (p == 1 || cost < best) {
      best = cost;
      panel_parts = p;
      channel_parts = c;
    }
  }
  const std::int64_t parts = sizes_.groups * panel_parts * channel_parts;
  const std::int64_t chunks = std::min(threads, parts);
  parallel_for(chunks, [&](std::int64_t chunk) {
    const Range range = split_range(parts, chunk, chunks);
    for (std::int64_t i = range.begin; i < range.end; ++i) {
      const Part part{i / (panel_parts * channel_parts),
                      split_range(panels(), i / channel_parts % panel_parts, panel_parts),
                      split_range(sizes_.input_channels, i % channel_parts, channel_parts)};
      const std::int64_t offset = part.group * group_elements();
      accumulate(invocation, chunk, incoming, source, part, {0, blocks_.count()}, totals(invocation, 0) + offset,
                 sections(invocation, 0) + offset);
    }
  });
}

/// Adds the copies of the accumulators in order and lays a range of columns, counted over all panels of all groups,
/// out as weights.
template <class T>
void WeightsGradient<T>::write(const Invocation& invocation, std::int64_t copies, Range range, T* result) const {
  const std::int64_t width = panel_.width;
  const std::int64_t all_outputs = sizes_.groups * sizes_.output_channels;
  for (std::int64_t i = range.begin; i < range.end;) {
    const std::int64_t group = i / columns() / panels();
    const std::int64_t panel = i / columns() % panels();
    const std::int64_t first = i % columns();
    const std::int64_t last = std::min(columns(), first + range.end - i);
    T* sums = totals(invocation, 0) + i * width;
    for (std::int64_t copy = 1; copy < copies; ++copy)
      kernels_.add(totals(invocation, copy) + i * width, (last - first) * width, sums);
    const std::int64_t output = group * sizes_.output_channels + panel * width;
    if (!sizes_.output_last) {
      kernels_.transpose(sums, width, last - first, panel_rows(panel), result + output * columns() + first, columns());
    } else {
      for (std::int64_t column = first; column < last; ++column, sums += width) {
        const std::int64_t position = column % taps_ * sizes_.input_channels + column / taps_;
        std::copy_n(sums, panel_rows(panel), result + position * all_outputs + output);
      }
    }
    i += last - first;
  }
}

template <class T>
void WeightsGradient<T>::run(const Invocation& invocation, const T* incoming, const T* source, T* result,
                             int threads) const {
  std::int64_t copies = 1;
  // Splitting pixels shares all copying; its price is the sum over threads, and blocks that come out uneven.
  if (totals_per_thread_ && (threads == 1 || blocks_.count() >= 4 * threads)) {
    copies = threads;
    split_pixels(invocation, incoming, source, copies);
  } else {
    split_weights(invocation, incoming, source, threads);
  }
  const std::int64_t all_columns = sizes_.groups * panels() * columns();
  const std::int64_t chunks = std::min<std::int64_t>(threads, all_columns);
  parallel_for(chunks,
               [&](std::int64_t chunk) { write(invocation, copies, split_range(all_columns, chunk, chunks), result); });
}

template class WeightsGradient<float>;
template class WeightsGradient<double>;

}  // namespace mpsgraph_native::cpu
