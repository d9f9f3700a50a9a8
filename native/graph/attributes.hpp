#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "graph/enumerations.hpp"
#include "graph/types.hpp"

namespace mpsgraph_native {

// Every attribute struct lists its members once, in a static `fields(self, visit)` that calls
// visit("name", member). Equality is defaulted; reading and listing attributes, hashing and printing visit that list.

/// One attribute as the binding hands it over. Enumerations come as their integer value, shapes and axes as lists.
using AttributeValue = std::variant<bool, std::int64_t, double, std::vector<std::int64_t>>;
using AttributeMap = std::vector<std::pair<std::string, AttributeValue>>;

/// Fills the members of an attribute struct from a map; a member that the map lacks keeps its default.
class AttributeReader {
 public:
  AttributeReader(std::string_view operation, const AttributeMap& map) : operation_(operation), map_(map) {}

  void operator()(std::string_view name, bool& member) const;
  void operator()(std::string_view name, std::int64_t& member) const;
  void operator()(std::string_view name, double& member) const;
  void operator()(std::string_view name, Shape& member) const;
  void operator()(std::string_view name, DataType& member) const;

  template <std::size_t N>
  void operator()(std::string_view name, std::array<std::int64_t, N>& member) const {
    const std::vector<std::int64_t>* values = integers(name);
    if (!values) return;
    if (values->size() != N) fail<ShapeError>(operation_, name, "must have ", N, " values, got ", values->size());
    std::copy(values->begin(), values->end(), member.begin());
  }

  template <class E>
    requires std::is_enum_v<E>
  void operator()(std::string_view name, E& member) const {
    std::int64_t value = static_cast<std::int64_t>(member);
    (*this)(name, value);
    if (!enumeration_has<E>(value)) fail<ShapeError>(operation_, name, "has no member with the value ", value);
    member = static_cast<E>(value);
  }

 private:
  const AttributeValue* find(std::string_view name) const;
  const std::vector<std::int64_t>* integers(std::string_view name) const;

  std::string_view operation_;
  const AttributeMap& map_;
};

/// The inverse of AttributeReader: lists every member.
class AttributeWriter {
 public:
  explicit AttributeWriter(AttributeMap& map) : map_(map) {}

  template <class T>
  void operator()(std::string_view name, const T& member) {
    if constexpr (std::is_enum_v<T>)
      map_.emplace_back(name, static_cast<std::int64_t>(member));
    else if constexpr (std::is_arithmetic_v<T>)
      map_.emplace_back(name, member);
    else
      map_.emplace_back(name, std::vector<std::int64_t>(member.begin(), member.end()));
  }

 private:
  AttributeMap& map_;
};

class AttributeHasher {
 public:
  std::size_t value = 0;

  template <class T>
  void operator()(std::string_view, const T& member) {
    if constexpr (std::is_same_v<T, Shape>) {
      value = hash_combine(value, hash_of(member));
    } else if constexpr (std::is_enum_v<T>) {
      value = hash_combine(value, static_cast<std::size_t>(member));
    } else if constexpr (std::is_arithmetic_v<T>) {
      value = hash_combine(value, std::hash<T>{}(member));
    } else {
      for (const auto element : member) value = hash_combine(value, std::hash<std::int64_t>{}(element));
    }
  }
};

/// Writes "name=value, ..." for repr and reports.
class AttributePrinter {
 public:
  explicit AttributePrinter(std::string& text) : text_(text) {}

  template <class T>
  void operator()(std::string_view name, const T& member) {
    text_ += text(first_ ? "" : ", ", name, '=');
    first_ = false;
    if constexpr (std::is_same_v<T, bool>) {
      text_ += member ? "True" : "False";
    } else if constexpr (std::is_enum_v<T> && !std::is_same_v<T, DataType>) {
      text_ += name_of(member);
    } else if constexpr (std::is_arithmetic_v<T> || std::is_same_v<T, Shape> || std::is_same_v<T, DataType>) {
      append(text_, member);
    } else {
      append(text_, Shape(std::span<const std::int64_t>(member)));
    }
  }

 private:
  std::string& text_;
  bool first_ = true;
};

template <class Attributes>
std::size_t hash_of_fields(const Attributes& attributes) {
  AttributeHasher hasher;
  Attributes::fields(attributes, hasher);
  return hasher.value;
}

}  // namespace mpsgraph_native
