#pragma once

#include <charconv>
#include <concepts>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

namespace mpsgraph_native {

// Texts are made without streams: those write numbers as the process's locale says, and depend on global tables that
// two copies of the standard library in one process (ours may be linked in, Python's extensions bring theirs) can
// confuse. A type of ours takes part by an `append` of its own.

inline void append(std::string& text, std::string_view part) { text += part; }
inline void append(std::string& text, const char* part) { text += part; }
inline void append(std::string& text, char part) { text += part; }

template <std::integral T>
void append(std::string& text, T number) {
  char digits[24];
  text.append(digits, std::to_chars(digits, digits + sizeof digits, number).ptr);
}
void append(std::string& text, bool) = delete;  // 1 or True: say which

/// In the fewest digits that give the number back.
inline void append(std::string& text, double number) {
  // libc++ has to_chars of floating-point numbers from macOS 13.3 on.
  char digits[32];
  int length = 0;
  for (int precision = 6; precision <= 17; ++precision) {
    length = std::snprintf(digits, sizeof digits, "%.*g", precision, number);
    if (std::strtod(digits, nullptr) == number) break;
  }
  for (int i = 0; i < length; ++i) text += digits[i] == ',' ? '.' : digits[i];  // a locale's decimal comma
}

/// Concatenates the parts.
template <class... Parts>
std::string text(const Parts&... parts) {
  std::string result;
  (append(result, parts), ...);
  return result;
}

}  // namespace mpsgraph_native
