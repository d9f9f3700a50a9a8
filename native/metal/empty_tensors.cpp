#include "metal/empty_tensors.hpp"

#include <algorithm>
#include <cstring>
#include <limits>

#include "graph/axes.hpp"
#include "graph/recurrent_operands.hpp"
#include "metal/known_faults.hpp"

namespace mpsgraph_native::metal {
namespace {

template <class Attributes>
constexpr bool is_recurrent_gradient = is_one_of<Attributes, GRUGradients, LSTMGradients, SingleGateRNNGradients>;
template <class Attributes>
constexpr bool is_recurrent = is_recurrent_gradient<Attributes> || is_one_of<Attributes, GRU, LSTM, SingleGateRNN>;

enum class Filling { Zero, One, Least, Greatest, NotANumber };

/// The element's bits, which fill the low bytes.
std::uint64_t bits_of(Filling filling, DataType dtype) {
  struct Row {
    DataType dtype;
    std::uint64_t one, least, greatest, not_a_number;
  };
  static constexpr Row floating[] = {
      {DataType::Float32, 0x3f800000, 0xff800000, 0x7f800000, 0x7fc00000},
      {DataType::Float16, 0x3c00, 0xfc00, 0x7c00, 0x7e00},
      {DataType::BFloat16, 0x3f80, 0xff80, 0x7f80, 0x7fc0},
  };
  static constexpr Row int32{DataType::Int32, 1, 0x80000000, 0x7fffffff, 0};
  static constexpr Row int64{DataType::Int64, 1, 0x8000000000000000, 0x7fffffffffffffff, 0};
  if (filling == Filling::Zero) return 0;
  const Row* row = dtype == DataType::Int64 ? &int64 : &int32;
  for (const Row& candidate : floating)
    if (candidate.dtype == dtype) row = &candidate;
  switch (filling) {
    case Filling::One: return row->one;
    case Filling::Least: return row->least;
    case Filling::Greatest: return row->greatest;
    default: return row->not_a_number;
  }
}

Filling filling_of(const Operation& operation, std::span<const TensorType* const> operands) {
  if (std::holds_alternative<ReductionProduct>(operation)) return Filling::One;
  if (std::holds_alternative<ReductionMaximum>(operation)) return Filling::Least;
  if (std::holds_alternative<ReductionMinimum>(operation)) return Filling::Greatest;
  if (std::holds_alternative<Mean>(operation)) return Filling::NotANumber;
  if (const auto* loss = std::get_if<SoftmaxCrossEntropy>(&operation);
      loss && loss->reduction_type == LossReductionType::Mean) {
    // The mean is over the rows: of no rows it is 0 / 0, of rows without classes each row's loss is 0.
    const Shape& shape = operands[0]->shape;
    const int axis = resolve_axis(loss->name, "axis", loss->axis, shape.rank());
    for (int other = 0; other < shape.rank(); ++other)
      if (other != axis && shape[other] == 0) return Filling::NotANumber;
  }
  return Filling::Zero;
}

/// The operand whose contents the gradient `index` of a recurrent operation over no steps has; none otherwise.
std::size_t passed_through(std::span<const Argument> arguments, std::span<const TensorType* const> operands,
                           std::size_t index) {
  const RecurrentOperands places(arguments);
  const auto has = [&](std::size_t place) { return place != RecurrentOperands::none && operands[place] != nullptr; };
  if (operands[places.source]->shape[0] != 0) return RecurrentOperands::none;
  std::size_t result = 0;
  for (const std::size_t place : {places.source, places.recurrent_weight, places.input_weight, places.bias,
                                  places.peephole, places.init_state, places.init_cell, places.secondary_bias}) {
    if (!has(place)) continue;
    if (result++ != index) continue;
    if (place == places.init_state && has(places.state_gradient)) return places.state_gradient;
    if (place == places.init_cell && has(places.cell_gradient)) return places.cell_gradient;
  }
  return RecurrentOperands::none;
}

}  // namespace

bool has_elements(const TensorType& type) { return type.shape.elements() != 0; }

Treatment treatment_of(const Operation& operation, std::span<const TensorType* const> operands,
                       std::span<const TensorType> results) {
  if (!concerned(Fault::EmptyTensor, {operation, operands, results, {}})) return Treatment::Lower;
  return std::visit(
      [&]<class Attributes>(const Attributes& attributes) {
        if constexpr (is_recurrent<Attributes>) {
          const Shape& source = operands[RecurrentOperands(attributes.arguments).source]->shape;
          if (source[0] != 0 && source[1] != 0) return Treatment::LowerWidened;
        }
        return Treatment::Known;
      },
      operation);
}

KnownResult known_result(const Operation& operation, std::span<const TensorType* const> operands,
                         std::span<const TensorType> results, std::size_t index) {
  KnownResult known;
  const TensorType& type = results[index];
  if (!has_elements(type)) return known;
  const std::size_t operand = std::visit(
      [&]<class Attributes>(const Attributes& attributes) {
        if constexpr (is_recurrent_gradient<Attributes>) return passed_through(attributes.arguments, operands, index);
        return RecurrentOperands::none;
      },
      operation);
  if (operand != RecurrentOperands::none) {
    known.kind = KnownResult::Kind::Operand;
    known.operand = operand;
    return known;
  }
  known.kind = KnownResult::Kind::Filled;
  const std::uint64_t bits = bits_of(filling_of(operation, operands), type.dtype);
  known.element.resize(byte_size(type.dtype));
  std::memcpy(known.element.data(), &bits, known.element.size());  // every machine with Metal is little-endian
  return known;
}

TensorType widened(TensorType type) {
  for (int axis = 0; axis < type.shape.rank(); ++axis) type.shape[axis] = std::max<std::int64_t>(type.shape[axis], 1);
  return type;
}

}  // namespace mpsgraph_native::metal
