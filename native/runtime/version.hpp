#pragma once

#include <string_view>

namespace mpsgraph_native {

/// The package's version, as pyproject.toml has it; a test holds the two together.
inline constexpr std::string_view package_version = "0.1.0";

}  // namespace mpsgraph_native
