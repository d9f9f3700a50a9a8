#include "element.hpp"

#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>

#include "assertion.hpp"

namespace stand_in {
namespace {

template <class T>
T read(const void* address) {
  T value;
  std::memcpy(&value, address, sizeof value);
  return value;
}
template <class T>
void write(void* address, T value) {
  std::memcpy(address, &value, sizeof value);
}

/// A 16-bit float with `Mantissa` stored bits.
template <int Mantissa>
struct Half {
  static constexpr int bias = (1 << (14 - Mantissa)) - 1;
  static constexpr std::uint16_t infinity = static_cast<std::uint16_t>((2 * bias + 1) << Mantissa);

  static std::uint16_t encode(double value) {
    const std::uint16_t sign = std::signbit(value) ? 0x8000 : 0;
    if (std::isnan(value)) return static_cast<std::uint16_t>(sign | infinity | (1 << (Mantissa - 1)));
    const double magnitude = std::fabs(value);
    if (magnitude == 0) return sign;
    if (std::isinf(magnitude)) return sign | infinity;
    int exponent = std::max(std::ilogb(magnitude), 1 - bias);
    // Both carries, of the mantissa and from the subnormals, run into the exponent's field on their own.
    const double units = std::nearbyint(std::ldexp(magnitude, Mantissa - exponent));
    const double bits = std::ldexp(exponent + bias - 1, Mantissa) + units;
    return sign | (bits >= infinity ? infinity : static_cast<std::uint16_t>(bits));
  }

  static double decode(std::uint16_t bits) {
    const double sign = bits & 0x8000 ? -1 : 1;
    const int exponent = (bits & 0x7fff) >> Mantissa;
    const int units = bits & ((1 << Mantissa) - 1);
    if (exponent == 2 * bias + 1) {
      return units ? std::numeric_limits<double>::quiet_NaN() : sign * std::numeric_limits<double>::infinity();
    }
    if (exponent == 0) return sign * std::ldexp(units, 1 - bias - Mantissa);
    return sign * std::ldexp(units + (1 << Mantissa), exponent - bias - Mantissa);
  }
};

using Float16 = Half<10>;
using BFloat16 = Half<7>;

constexpr MPSDataType bfloat16 = MPSDataTypeBFloat16;

template <class T>
T wrapped(Element value) {
  if (!(std::fabs(value) < 18446744073709551616.0)) return value > 0 ? std::numeric_limits<T>::max() : T{0};
  if (std::fabs(value) < 9223372036854775808.0) return static_cast<T>(static_cast<std::int64_t>(value));
  const auto magnitude = static_cast<std::uint64_t>(std::fabs(value));
  return static_cast<T>(value < 0 ? 0 - magnitude : magnitude);
}

}  // namespace

std::size_t element_size(MPSDataType type) {
  switch (type) {
    case MPSDataTypeFloat32:
    case MPSDataTypeFloat16:
    case bfloat16:
    case MPSDataTypeInt8:
    case MPSDataTypeInt16:
    case MPSDataTypeInt32:
    case MPSDataTypeInt64:
    case MPSDataTypeUInt8:
    case MPSDataTypeUInt16:
    case MPSDataTypeUInt32:
    case MPSDataTypeUInt64:
    case MPSDataTypeBool: return (type & 0xff) / 8;
    default: return 0;
  }
}

Element load_element(const void* address, MPSDataType type) {
  switch (type) {
    case MPSDataTypeFloat32: return read<float>(address);
    case MPSDataTypeFloat16: return Float16::decode(read<std::uint16_t>(address));
    case bfloat16: return BFloat16::decode(read<std::uint16_t>(address));
    case MPSDataTypeInt8: return read<std::int8_t>(address);
    case MPSDataTypeInt16: return read<std::int16_t>(address);
    case MPSDataTypeInt32: return read<std::int32_t>(address);
    case MPSDataTypeInt64: return static_cast<Element>(read<std::int64_t>(address));
    case MPSDataTypeUInt8: return read<std::uint8_t>(address);
    case MPSDataTypeUInt16: return read<std::uint16_t>(address);
    case MPSDataTypeUInt32: return read<std::uint32_t>(address);
    case MPSDataTypeUInt64: return static_cast<Element>(read<std::uint64_t>(address));
    case MPSDataTypeBool: return read<std::uint8_t>(address) != 0;
    default: assertion_failure("load", "unsupported data type");
  }
}

void store_element(void* address, MPSDataType type, Element value) {
  switch (type) {
    case MPSDataTypeFloat32: return write(address, static_cast<float>(value));
    case MPSDataTypeFloat16: return write(address, Float16::encode(static_cast<double>(value)));
    case bfloat16: return write(address, BFloat16::encode(static_cast<double>(value)));
    case MPSDataTypeInt8: return write(address, wrapped<std::int8_t>(value));
    case MPSDataTypeInt16: return write(address, wrapped<std::int16_t>(value));
    case MPSDataTypeInt32: return write(address, wrapped<std::int32_t>(value));
    case MPSDataTypeInt64: return write(address, wrapped<std::int64_t>(value));
    case MPSDataTypeUInt8: return write(address, wrapped<std::uint8_t>(value));
    case MPSDataTypeUInt16: return write(address, wrapped<std::uint16_t>(value));
    case MPSDataTypeUInt32: return write(address, wrapped<std::uint32_t>(value));
    case MPSDataTypeUInt64: return write(address, wrapped<std::uint64_t>(value));
    case MPSDataTypeBool: return write(address, static_cast<std::uint8_t>(value != 0));
    default: assertion_failure("store", "unsupported data type");
  }
}

Element rounded(Element value, MPSDataType type) {
  std::uint64_t storage = 0;
  store_element(&storage, type, value);
  return load_element(&storage, type);
}

}  // namespace stand_in
