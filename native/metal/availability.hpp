#pragma once

#include <compare>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "graph/operation.hpp"

namespace mpsgraph_native::metal {

struct MacOS {
  int major = 0, minor = 0;

  friend auto operator<=>(const MacOS&, const MacOS&) = default;
};
void append(std::string& text, MacOS version);

/// The version that every decision goes by: the machine's, or the one that a test put in its place.
MPSGRAPH_API MacOS running_macos();
/// std::nullopt gives the machine's own version back.
MPSGRAPH_API void set_macos_version_for_testing(std::optional<MacOS> version);

/// One row per selector that an operation is lowered to.
///
/// To add a row: the operation's name as its attribute struct has it; the form, where an operation has several
/// selectors and its operands tell which ("" otherwise); the selector; the macOS that introduced it, or its descriptor
/// or a property that is set on it if that is younger; and what stands in for it on an older system ("" if nothing
/// does: DeviceError then names the version). A lowering that has such a substitute asks `is_available`.
struct Availability {
  std::string_view operation;
  std::string_view form;
  std::string_view selector;
  MacOS introduced;
  std::string_view substitute;
};
MPSGRAPH_API std::span<const Availability> availability_table();

/// The row of an operation; CompileError when the table has none.
MPSGRAPH_API const Availability& availability_of(std::string_view operation, std::string_view form = {});
/// Which of its selectors an operation takes, told by its operands (null: absent).
MPSGRAPH_API std::string_view form_of(const Operation& operation, std::span<const TensorType* const> inputs);

MPSGRAPH_API bool is_available(std::string_view operation, std::string_view form = {});
/// Raises DeviceError naming the macOS that is needed, unless the operation or a substitute runs on this one.
MPSGRAPH_API void check_available(std::string_view operation, std::string_view form = {});

/// Whether Metal has the type at all: float64 is ours alone.
MPSGRAPH_API bool has_data_type(DataType dtype);
/// The macOS from which MPSGraph takes it.
MPSGRAPH_API MacOS introduced_with(DataType dtype);

}  // namespace mpsgraph_native::metal
