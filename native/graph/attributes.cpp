#include "graph/attributes.hpp"

namespace mpsgraph_native {

const AttributeValue* AttributeReader::find(std::string_view name) const {
  for (const auto& [key, value] : map_)
    if (key == name) return &value;
  return nullptr;
}

const std::vector<std::int64_t>* AttributeReader::integers(std::string_view name) const {
  const AttributeValue* value = find(name);
  if (!value) return nullptr;
  if (const auto* list = std::get_if<std::vector<std::int64_t>>(value)) return list;
  fail<DTypeError>(operation_, name, "must be a sequence of integers");
}

void AttributeReader::operator()(std::string_view name, bool& member) const {
  const AttributeValue* value = find(name);
  if (!value) return;
  if (const auto* flag = std::get_if<bool>(value))
    member = *flag;
  else
    fail<DTypeError>(operation_, name, "must be a bool");
}

void AttributeReader::operator()(std::string_view name, std::int64_t& member) const {
  const AttributeValue* value = find(name);
  if (!value) return;
  if (const auto* integer = std::get_if<std::int64_t>(value))
    member = *integer;
  else
    fail<DTypeError>(operation_, name, "must be an integer");
}

void AttributeReader::operator()(std::string_view name, double& member) const {
  const AttributeValue* value = find(name);
  if (!value) return;
  if (const auto* real = std::get_if<double>(value))
    member = *real;
  else if (const auto* integer = std::get_if<std::int64_t>(value))
    member = static_cast<double>(*integer);
  else
    fail<DTypeError>(operation_, name, "must be a real number");
}

void AttributeReader::operator()(std::string_view name, Shape& member) const {
  if (const auto* values = integers(name)) {
    if (values->size() > maximum_rank)
      fail<ShapeError>(operation_, name, "must have at most ", maximum_rank, " values, got ", values->size());
    member = Shape(std::span<const std::int64_t>(*values));
  }
}

void AttributeReader::operator()(std::string_view name, DataType& member) const {
  std::int64_t value = static_cast<std::int64_t>(member);
  (*this)(name, value);
  member = static_cast<DataType>(value);
  if (!is_known(member) || static_cast<std::int64_t>(member) != value)
    fail<DTypeError>(operation_, name, "has no type with the number ", value);
}

}  // namespace mpsgraph_native
