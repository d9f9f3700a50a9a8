#include "graph/error.hpp"

#include <new>

namespace mpsgraph_native {

ErrorRecord current_error() {
  try {
    throw;
  } catch (const ShapeError& error) {
    return {ErrorKind::Shape, error.what()};
  } catch (const DTypeError& error) {
    return {ErrorKind::DType, error.what()};
  } catch (const DeviceError& error) {
    return {ErrorKind::Device, error.what()};
  } catch (const CompileError& error) {
    return {ErrorKind::Compile, error.what()};
  } catch (const Interrupted& error) {
    return {ErrorKind::Interrupted, error.what()};
  } catch (const std::bad_alloc&) {
    return {ErrorKind::Memory, "out of memory in the native core"};
  } catch (const std::exception& error) {
    return {ErrorKind::Other, error.what()};
  } catch (...) {
    return {ErrorKind::Other, "unknown C++ exception in the native core"};
  }
}

}  // namespace mpsgraph_native
