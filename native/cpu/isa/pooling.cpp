#include "cpu/isa/families.hpp"
#include "cpu/isa/pooling_maximum.hpp"

namespace mpsgraph_native::cpu::MPSGRAPH_ISA {

template <class T>
PoolingPlaneKernels<T> pooling_plane_kernels();

namespace {

/// The maximum of a vector of inner elements, whose source is that of lane 0.
template <template <class> class Best, bool WithIndices, bool Whole, class T>
MPSGRAPH_INLINE Best<T> maximum_of_taps(const PoolingPixel<T>& pixel, const T* source, std::int64_t left) {
  const auto tap = [&](std::int64_t t) __attribute__((always_inline)) {
    const T* from = source + pixel.offsets[t];
    return in_register(Whole ? load(from) : load_lanes(from, left));
  };
  Best<T> best(tap(0), broadcast_index<T>(pixel.codes[0]));
  for (std::int64_t t = 1; t < pixel.taps; ++t)
    best.template take<WithIndices>(tap(t), broadcast_index<T>(WithIndices ? pixel.codes[t] : 0));
  return best;
}

template <bool WithIndices, bool Whole, class T>
MPSGRAPH_INLINE void maximum_pixel_lanes(const PoolingPixel<T>& pixel, const T* source, std::int64_t index,
                                         std::int64_t left, T* values, std::int32_t* indices) {
  const auto put = [&](Vec<T> value, IndexVec<T> code) __attribute__((always_inline)) {
    if (values) {
      Whole ? store(values, value) : store_lanes(values, left, value);
      fetch_for_writing(values);
    }
    if constexpr (WithIndices) {
      fetch_for_writing(indices);
      store_indices<T>(indices, Whole ? lanes<T> : left,
                       code + broadcast_index<T>(index) + lane_numbers<T>() * broadcast_index<T>(pixel.index_step));
    }
  };
  for (std::int64_t t = 0; t < pixel.taps; ++t) fetch_for_reading(source + pixel.offsets[t]);
  if constexpr (expects_ordered) {
    const auto best = maximum_of_taps<OrderedMaximum, WithIndices, Whole>(pixel, source, left);
    if (best.all_ordered()) return put(best.value, best.code);
  }
  const auto best = maximum_of_taps<Maximum, WithIndices, Whole>(pixel, source, left);
  put(best.value, best.code);
}

template <bool WithIndices, class T>
MPSGRAPH_INLINE void maximum_pixels(const PoolingPixel<T> pixel, T* values, std::int32_t* indices) {
  const T* source = pixel.source;
  std::int64_t index = pixel.index;
  for (std::int64_t at = 0; at < pixel.positions; ++at) {
    std::int64_t i = 0;
    for (; i + lanes<T> <= pixel.inner; i += lanes<T>)
      maximum_pixel_lanes<WithIndices, true>(pixel, source + i, index + i * pixel.index_step, lanes<T>,
                                             values ? values + i : nullptr, WithIndices ? indices + i : nullptr);
    if (i < pixel.inner)
      maximum_pixel_lanes<WithIndices, false>(pixel, source + i, index + i * pixel.index_step, pixel.inner - i,
                                              values ? values + i : nullptr, WithIndices ? indices + i : nullptr);
    source += pixel.source_position_step;
    index += pixel.index_position_step;
    if (values) values += pixel.result_position_step;
    if constexpr (WithIndices) indices += pixel.result_position_step;
  }
}

template <class T>
void maximum_pixel(const PoolingPixel<T>& pixel, T* values, std::int32_t* indices) {
  if (pixel.taps > 0) {
    if (indices) return maximum_pixels<true>(pixel, values, indices);
    return maximum_pixels<false>(pixel, values, indices);
  }
  for (std::int64_t at = 0; at < pixel.positions; ++at) {
    for (std::int64_t i = 0; i < pixel.inner; ++i) {
      if (values) values[at * pixel.result_position_step + i] = -infinity<T>;
      if (indices) indices[at * pixel.result_position_step + i] = -1;
    }
  }
}

template <bool Squared, class T>
MPSGRAPH_INLINE Vec<T> sum_pixel_lanes(const PoolingPixel<T>& pixel, std::int64_t i, std::int64_t left) {
  Vec<T> sum{};
  for (std::int64_t t = 0; t < pixel.taps; ++t) {
    const Vec<T> value = load_lanes(pixel.source + pixel.offsets[t] + i, left);
    sum = Squared ? multiply_add(value, value, sum) : sum + value;
  }
  return sum;
}

template <class T>
MPSGRAPH_INLINE Vec<T> square_root(Vec<T> v) {
  T parts[lanes<T>];
  __builtin_memcpy(parts, &v, sizeof v);
  for (int i = 0; i < lanes<T>; ++i)
    parts[i] = sizeof(T) == 4 ? static_cast<T>(__builtin_sqrtf(static_cast<float>(parts[i])))
                              : static_cast<T>(__builtin_sqrt(static_cast<double>(parts[i])));
  __builtin_memcpy(&v, parts, sizeof v);
  return v;
}

template <class T>
void average_pixel(const PoolingPixel<T>& pixel, T divisor, T* values) {
  for (std::int64_t i = 0; i < pixel.inner; i += lanes<T>) {
    const std::int64_t left = pixel.inner - i;
    store_lanes(values + i, left, sum_pixel_lanes<false>(pixel, i, left) / broadcast(divisor));
  }
}

template <class T>
void l2_norm_pixel(const PoolingPixel<T>& pixel, T* values) {
  for (std::int64_t i = 0; i < pixel.inner; i += lanes<T>) {
    const std::int64_t left = pixel.inner - i;
    store_lanes(values + i, left, square_root<T>(sum_pixel_lanes<true>(pixel, i, left)));
  }
}

template <class T>
void average_gradient_pixel(const PoolingPixel<T>& pixel, const T* gradient, T divisor, T* result) {
  for (std::int64_t i = 0; i < pixel.inner; i += lanes<T>) {
    const std::int64_t left = pixel.inner - i;
    const Vec<T> share = load_lanes(gradient + i, left) / broadcast(divisor);
    for (std::int64_t t = 0; t < pixel.taps; ++t) {
      T* to = result + pixel.offsets[t] + i;
      store_lanes(to, left, load_lanes(to, left) + share);
    }
  }
}

template <class T>
void l2_norm_gradient_pixel(const PoolingPixel<T>& pixel, const T* gradient, T* result) {
  for (std::int64_t i = 0; i < pixel.inner; i += lanes<T>) {
    const std::int64_t left = pixel.inner - i;
    const Vec<T> norm = square_root<T>(sum_pixel_lanes<true>(pixel, i, left));
    const Vec<T> share = select<T>(norm == Vec<T>{}, Vec<T>{}, load_lanes(gradient + i, left) / norm);
    for (std::int64_t t = 0; t < pixel.taps; ++t) {
      T* to = result + pixel.offsets[t] + i;
      store_lanes(to, left,
                  multiply_add(share, load_lanes(pixel.source + pixel.offsets[t] + i, left), load_lanes(to, left)));
    }
  }
}

/// body(source offset, index, element, vector) for the vectors of all positions of a pixel: what the position adds to
/// its source and its index, the place of lane 0 in the results, and how many lanes count.
template <class T, class Body>
MPSGRAPH_INLINE void for_each_vector_of(const PoolingPixel<T>& pixel, Body&& body) {
  std::int64_t source = 0, index = pixel.index, element = 0;
  for (std::int64_t at = 0; at < pixel.positions; ++at) {
    for (std::int64_t i = 0; i < pixel.inner; i += lanes<T>)
      body(source + i, index + i * pixel.index_step, element + i, pixel.inner - i);
    source += pixel.source_position_step;
    index += pixel.index_position_step;
    element += pixel.result_position_step;
  }
}

/// Indices relative to the window's, which makes them the codes of taps; `index` is that of lane 0.
MPSGRAPH_INLINE IndexVec<float> relative_codes(const PoolingPixel<float>& pixel, const std::int32_t* indices,
                                               std::int64_t index, std::int64_t left) {
  return load_lanes<std::int32_t>(indices, left) - lane_numbers<float>() * broadcast_index<float>(pixel.index_step) -
         broadcast_index<float>(index);
}

bool indices_in_window(const PoolingPixel<float>& given, const std::int32_t* indices) {
  const PoolingPixel<float> pixel = given;
  IndexVec<float> all = ~IndexVec<float>{};
  for_each_vector_of(pixel, [&](std::int64_t, std::int64_t index, std::int64_t element, std::int64_t left)
                                __attribute__((always_inline)) {
                                  const IndexVec<float> codes = relative_codes(pixel, indices + element, index, left);
                                  IndexVec<float> found = lane_numbers<float>() >= broadcast_index<float>(left);
                                  for (std::int64_t t = 0; t < pixel.taps; ++t)
                                    found |= codes == broadcast_index<float>(pixel.codes[t]);
                                  all &= found;
                                });
  for (int i = 0; i < lanes<float>; ++i)
    if (!all[i]) return false;
  return true;
}

void maximum_gradient_pixel(const PoolingPixel<float>& given, const float* gradient, const std::int32_t* indices,
                            float* result) {
  const PoolingPixel<float> pixel = given;
  for_each_vector_of(pixel, [&](std::int64_t source, std::int64_t index, std::int64_t element,
                                std::int64_t left) __attribute__((always_inline)) {
    const IndexVec<float> codes = relative_codes(pixel, indices + element, index, left);
    // As a sum that begins with zero, which a negative zero does not change.
    const Vec<float> values = load_lanes(gradient + element, left) + Vec<float>{};
    fetch_for_reading(gradient + element);
    fetch_for_reading(indices + element);
    for (std::int64_t t = 0; t < pixel.taps; ++t) {
      float* to = result + pixel.offsets[t] + source;
      store_lanes(to, left, select<float>(codes == broadcast_index<float>(pixel.codes[t]), values, Vec<float>{}));
      fetch_for_writing(to);
    }
  });
}

/// Calls take(value, row, tap) for every tap of one block of outputs, in window order.
template <bool Inside, int Stride, class T, class Take>
MPSGRAPH_INLINE void visit_taps(const PoolingRow<T>& row, const RowBlock<T, Stride>& block, Vec<T> outside,
                                Take&& take) {
  for (std::int64_t r = 0; r < row.rows; ++r) {
    const T* source = row.source + row.row_offsets[r];
    std::int64_t tap = 0;
    if constexpr (Stride == 2) {
      if (row.dilation == 1) {
        for (; tap + 1 < row.taps; tap += 2) {
          Vec<T> first, second;
          block.template load_tap_pair<Inside>(source, tap, outside, first, second);
          take(first, r, tap);
          take(second, r, tap + 1);
        }
      }
    }
    for (; tap < row.taps; ++tap) take(block.template load_tap<Inside>(source, tap, outside), r, tap);
  }
}

template <bool WithIndices, bool Inside, int Stride, class T>
MPSGRAPH_INLINE void maximum_block(const PoolingRow<T>& row, const RowBlock<T, Stride>& block, std::int64_t output,
                                   T* values, std::int32_t* indices) {
  const std::int64_t left = row.outputs - output;
  const IndexVec<T> tap_code = broadcast_index<T>(row.tap_code);
  Maximum<T> best(broadcast(-infinity<T>), IndexVec<T>{});
  if constexpr (WithIndices) {
    // Until a tap exceeds -inf the maximum is the first one inside.
    IndexVec<T> first{};
    if constexpr (!Inside)
      for (int i = 0; i < lanes<T> && i < left; ++i) first[i] = row.first_taps[output + i];
    best.code = first * tap_code + broadcast_index<T>(row.row_codes[0]);
  }
  visit_taps<Inside>(row, block, broadcast(-infinity<T>),
                     [&](Vec<T> value, std::int64_t r, std::int64_t tap) __attribute__((always_inline)) {
                       best.template take<WithIndices>(
                           value, broadcast_index<T>(WithIndices ? row.row_codes[r] + tap * row.tap_code : 0));
                     });
  if (values) {
    store_lanes(values + output, left, best.value);
    fetch_for_writing(values + output);
  }
  if constexpr (WithIndices) {
    fetch_for_writing(indices + output);
    store_indices<T>(indices + output, left,
                     best.code + broadcast_index<T>(row.index + output * row.index_step) +
                         lane_numbers<T>() * broadcast_index<T>(row.index_step));
  }
}

/// Calls block_body(block, output) for every vector of outputs, with the stride as a constant where it is 1 or 2.
template <int Stride, class T, class Body>
MPSGRAPH_INLINE void for_each_block(const PoolingRow<T>& row, Body&& body) {
  for (std::int64_t output = 0; output < row.outputs; output += lanes<T>) {
    const RowBlock<T, Stride> block(row.columns, output * row.stride - row.padding, row.taps, row.dilation, row.stride);
    body(block, output);
  }
}
template <class T, class Body>
MPSGRAPH_INLINE void for_each_block_of_stride(const PoolingRow<T>& row, Body&& body) {
  switch (row.stride) {
    case 1: for_each_block<1>(row, body); break;
    case 2: for_each_block<2>(row, body); break;
    default: for_each_block<0>(row, body); break;
  }
}

template <class T>
void maximum_row(const PoolingRow<T>& row, T* values, std::int32_t* indices) {
  constexpr std::int64_t line = 64 / static_cast<std::int64_t>(sizeof(T));
  for (std::int64_t r = 0; r < row.rows; ++r)
    for (std::int64_t i = 0; i < row.columns; i += line) fetch_for_reading(row.source + row.row_offsets[r] + i);
  for_each_block_of_stride(
      row, [&]<int Stride>(const RowBlock<T, Stride>& block, std::int64_t output) __attribute__((always_inline)) {
        if (indices) {
          if (block.inside())
            maximum_block<true, true>(row, block, output, values, indices);
          else
            maximum_block<true, false>(row, block, output, values, indices);
        } else {
          if (block.inside())
            maximum_block<false, true>(row, block, output, values, indices);
          else
            maximum_block<false, false>(row, block, output, values, indices);
        }
      });
}

template <bool Squared, int Stride, class T>
MPSGRAPH_INLINE Vec<T> sum_block(const PoolingRow<T>& row, const RowBlock<T, Stride>& block) {
  Vec<T> sum{};
  const auto take = [&](Vec<T> value, std::int64_t, std::int64_t) __attribute__((always_inline)) {
    sum = Squared ? multiply_add(value, value, sum) : sum + value;
  };
  if (block.inside())
    visit_taps<true>(row, block, Vec<T>{}, take);
  else
    visit_taps<false>(row, block, Vec<T>{}, take);
  return sum;
}

template <class T>
void average_row(const PoolingRow<T>& row, T divisor, const T* divisors, T* values) {
  for_each_block_of_stride(
      row, [&]<int Stride>(const RowBlock<T, Stride>& block, std::int64_t output) __attribute__((always_inline)) {
        const std::int64_t left = row.outputs - output;
        store_lanes(values + output, left,
                    sum_block<false>(row, block) / (broadcast(divisor) * load_lanes(divisors + output, left)));
      });
}

template <class T>
void l2_norm_row(const PoolingRow<T>& row, T* values) {
  for_each_block_of_stride(
      row, [&]<int Stride>(const RowBlock<T, Stride>& block, std::int64_t output) __attribute__((always_inline)) {
        store_lanes(values + output, row.outputs - output, square_root<T>(sum_block<true>(row, block)));
      });
}

}  // namespace

template <class T>
PoolingKernels<T> pooling_kernels() {
  PoolingKernels<T> kernels{};
  kernels.lanes = lanes<T>;
  kernels.maximum_pixel = maximum_pixel<T>;
  kernels.average_pixel = average_pixel<T>;
  kernels.l2_norm_pixel = l2_norm_pixel<T>;
  kernels.average_gradient_pixel = average_gradient_pixel<T>;
  kernels.l2_norm_gradient_pixel = l2_norm_gradient_pixel<T>;
  if constexpr (sizeof(T) == sizeof(std::int32_t)) {
    kernels.indices_in_window = indices_in_window;
    kernels.maximum_gradient_pixel = maximum_gradient_pixel;
  }
  kernels.maximum_row = maximum_row<T>;
  kernels.average_row = average_row<T>;
  kernels.l2_norm_row = l2_norm_row<T>;
  kernels.planes = pooling_plane_kernels<T>();
  return kernels;
}
template PoolingKernels<float> pooling_kernels<float>();
template PoolingKernels<double> pooling_kernels<double>();

}  // namespace mpsgraph_native::cpu::MPSGRAPH_ISA
