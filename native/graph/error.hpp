#pragma once

#include <stdexcept>
#include <string>
#include <string_view>

#include "graph/export.hpp"
#include "graph/text.hpp"

namespace mpsgraph_native {

/// Root of everything that the native side raises on purpose. Each subclass has a Python exception of the same name.
class MPSGRAPH_API Error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// A shape, value, layout, mode or index that does not fit.
class MPSGRAPH_API ShapeError : public Error {
 public:
  using Error::Error;
};

/// An element type, or a type of object, that is not accepted.
class MPSGRAPH_API DTypeError : public Error {
 public:
  using Error::Error;
};

/// A device that is unknown, unavailable, or failed.
class MPSGRAPH_API DeviceError : public Error {
 public:
  using Error::Error;
};

/// A graph that cannot be compiled.
class MPSGRAPH_API CompileError : public Error {
 public:
  using Error::Error;
};

/// A run that its caller asked to end early.
class MPSGRAPH_API Interrupted : public Error {
 public:
  using Error::Error;
};

/// "operation: argument <problem and expectation>, got <given>"
template <class E, class... Parts>
[[noreturn]] void fail(std::string_view operation, std::string_view argument, const Parts&... problem) {
  throw E(text(operation, ": ", argument, " ", problem...));
}

/// What the binding needs to raise the matching Python exception for the C++ exception in flight.
enum class ErrorKind { Shape, DType, Device, Compile, Interrupted, Memory, Other };

struct ErrorRecord {
  ErrorKind kind;
  std::string message;
};

/// To be called inside a catch block only.
MPSGRAPH_API ErrorRecord current_error();

}  // namespace mpsgraph_native
