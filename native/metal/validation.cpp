#include "metal/validation.hpp"

#include <vector>

#include "metal/known_faults.hpp"

namespace mpsgraph_native::metal {
namespace {

void check_type(std::string_view operation, std::string_view argument, DataType dtype) {
  if (!has_data_type(dtype))
    fail<DTypeError>(operation, argument, "must be of a type that device mps has (device cpu computes in ", dtype,
                     "), got ", dtype);
  if (running_macos() < introduced_with(dtype))
    throw DeviceError(text(operation, ": ", argument, " needs macOS ", introduced_with(dtype),
                           " or newer on device mps when it is ", dtype, ", got macOS ", running_macos()));
}

bool is_value(const Node& node) {
  return std::holds_alternative<Placeholder>(node.operation) || std::holds_alternative<Constant>(node.operation);
}

void check_node(const Program& program, const Node& node) {
  const std::string_view operation = name_of(node.operation);
  const auto arguments = arguments_of(node.operation);
  std::vector<const TensorType*> inputs;
  for (std::size_t i = 0; i < node.inputs.size(); ++i) {
    inputs.push_back(node.inputs[i].present() ? &program.type(node.inputs[i]) : nullptr);
    if (inputs[i]) check_type(operation, arguments[i].name, inputs[i]->dtype);
  }
  for (const TensorType& output : node.outputs)
    check_type(operation, std::holds_alternative<Cast>(node.operation) ? "dtype" : "result", output.dtype);
  check_available(operation, form_of(node.operation, inputs));
  refuse_known_faults({node.operation, inputs, node.outputs, {}});
}

/// The window of one result element along the four pooled axes, and where its batch lies.
class IndexReader {
 public:
  IndexReader(std::string_view operation, PoolingGeometry geometry)
      : operation_(operation), geometry_(std::move(geometry)), rank_(geometry_.source.rank()) {}

  template <class Index>
  void check(const Index* indices) const {
    const std::int64_t count = geometry_.result.elements();
    if (names_elements_alone()) {
      using Unsigned = std::make_unsigned_t<Index>;
      const Unsigned limit = static_cast<Unsigned>(bound());
      bool outside = false;
      for (std::int64_t i = 0; i < count; ++i) outside |= static_cast<Unsigned>(indices[i]) >= limit;
      if (!outside) return;
    }
    Shape at = geometry_.result;
    for (std::int64_t element = 0; element < count; ++element) {
      locate(element, at);
      if (!is_valid(indices[element], at))
        fail<ShapeError>(operation_, "indices", "must lie inside the destination and, under ",
                         name_of(geometry_.return_indices_mode), ", in [0, ", bound(), "), got ", indices[element],
                         " at ", at);
    }
  }

 private:
  const WindowAxis& axis(int dimension) const {
    return geometry_.axes[static_cast<std::size_t>(dimension - (rank_ - 4))];
  }

  void locate(std::int64_t element, Shape& at) const {
    for (int dimension = rank_ - 1; dimension >= 0; --dimension) {
      at[dimension] = element % geometry_.result[dimension];
      element /= geometry_.result[dimension];
    }
  }

  /// Whether every index below the bound means an element, wherever its window lies.
  bool names_elements_alone() const {
    if (local()) return false;
    for (int dimension = rank_ - 4; dimension < rank_ - flattened_dimensions(geometry_.return_indices_mode);
         ++dimension)
      if (is_pooled(axis(dimension))) return false;
    return true;
  }

  bool local() const { return is_local(geometry_.return_indices_mode); }

  std::int64_t bound() const {
    std::int64_t product = 1;
    for (int dimension = rank_ - flattened_dimensions(geometry_.return_indices_mode); dimension < rank_; ++dimension)
      product *= local() ? axis(dimension).kernel : axis(dimension).input;
    return product;
  }

  bool is_valid(std::int64_t index, const Shape& at) const {
    if (index == -1) {
      for (int dimension = rank_ - 4; dimension < rank_; ++dimension)
        if (!has_tap(axis(dimension), at[dimension])) return true;
      return false;
    }
    if (index < 0 || index >= bound()) return false;
    const int first_named = rank_ - flattened_dimensions(geometry_.return_indices_mode);
    for (int dimension = rank_ - 1; dimension >= rank_ - 4; --dimension) {
      const WindowAxis& a = axis(dimension);
      std::int64_t position = at[dimension] * a.stride - a.padding_before;
      if (dimension >= first_named) {
        if (!local()) continue;
        position += index % a.kernel * a.dilation;
        index /= a.kernel;
      }
      if (position < 0 || position >= a.input) return false;
    }
    return true;
  }

  std::string_view operation_;
  PoolingGeometry geometry_;
  int rank_;
};

}  // namespace

void check_program(const Program& program) {
  for (const Node& node : program.nodes)
    if (!is_value(node)) check_node(program, node);
  for (const Node& node : program.nodes)
    if (is_value(node)) check_type(name_of(node.operation), "dtype", node.outputs[0].dtype);
}

void check_pooling_indices(const Operation& operation, const TensorType& type, const void* indices) {
  std::visit(
      [&]<class Attributes>(const Attributes& attributes) {
        if constexpr (std::is_same_v<Attributes, MaxPooling2DGradient> ||
                      std::is_same_v<Attributes, MaxPooling4DGradient>) {
          const IndexReader reader(attributes.name, pooling_geometry(attributes.name, attributes.descriptor,
                                                                     attributes.output_shape, "output_shape"));
          if (type.dtype == DataType::Int64)
            reader.check(static_cast<const std::int64_t*>(indices));
          else
            reader.check(static_cast<const std::int32_t*>(indices));
        }
      },
      operation);
}

}  // namespace mpsgraph_native::metal
