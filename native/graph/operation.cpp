#include "graph/operation.hpp"

#include <unordered_map>

namespace mpsgraph_native {
namespace {

template <class Attributes>
Operation read_attributes(const AttributeMap& map) {
  Attributes attributes;
  Attributes::fields(attributes, AttributeReader(Attributes::name, map));
  return attributes;
}

using Maker = Operation (*)(const AttributeMap&);

template <class... Alternatives>
std::unordered_map<std::string_view, Maker> makers_of(std::type_identity<std::variant<Alternatives...>>) {
  return {{Alternatives::name, &read_attributes<Alternatives>}...};
}

}  // namespace

std::string_view name_of(const Operation& operation) {
  return std::visit([](const auto& attributes) { return attributes.name; }, operation);
}

std::span<const Argument> arguments_of(const Operation& operation) {
  return std::visit([](const auto& attributes) { return std::span<const Argument>(attributes.arguments); }, operation);
}

std::size_t hash_of(const Operation& operation) {
  return std::visit([&](const auto& attributes) { return hash_combine(operation.index(), hash_of_fields(attributes)); },
                    operation);
}

bool same(const Operation& a, const Operation& b) { return a == b; }

AttributeMap attributes_of(const Operation& operation) {
  AttributeMap map;
  std::visit(
      [&]<class Attributes>(const Attributes& attributes) { Attributes::fields(attributes, AttributeWriter(map)); },
      operation);
  return map;
}

std::string describe_attributes(const Operation& operation) {
  std::string result;
  std::visit(
      [&]<class Attributes>(const Attributes& attributes) { Attributes::fields(attributes, AttributePrinter(result)); },
      operation);
  return result;
}

std::string describe(const Operation& operation) {
  return text(name_of(operation), '(', describe_attributes(operation), ')');
}

ResultTypes infer_types(const Operation& operation, std::span<const TensorType* const> operands) {
  return std::visit(
      [&](const auto& attributes) {
        ResultTypes results = infer(attributes, Operands(attributes.name, attributes.arguments, operands));
        for (const TensorType& result : results) check_size(result.shape, attributes.name, "result");
        return results;
      },
      operation);
}

Operation make_operation(std::string_view name, const AttributeMap& attributes) {
  static const auto makers = makers_of(std::type_identity<Operation>());
  const auto maker = makers.find(name);
  if (maker == makers.end()) throw CompileError(text("unknown operation ", name));
  return maker->second(attributes);
}

}  // namespace mpsgraph_native
