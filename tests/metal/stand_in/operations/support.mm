#include "support.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include "../tensors.hpp"

namespace stand_in {

std::int64_t count(const Dims& shape) {
  std::int64_t elements = 1;
  for (const std::int64_t dim : shape) elements *= dim;
  return elements;
}

Dims strides_of(const Dims& shape) {
  Dims strides(shape.size(), 1);
  for (std::size_t i = shape.size(); i-- > 1;) strides[i - 1] = strides[i] * shape[i];
  return strides;
}

bool is_floating(MPSDataType type) {
  return type == MPSDataTypeFloat32 || type == MPSDataTypeFloat16 || type == MPSDataTypeBFloat16;
}

bool is_integer(MPSDataType type) {
  switch (type) {
    case MPSDataTypeInt8:
    case MPSDataTypeInt16:
    case MPSDataTypeInt32:
    case MPSDataTypeInt64:
    case MPSDataTypeUInt8:
    case MPSDataTypeUInt16:
    case MPSDataTypeUInt32:
    case MPSDataTypeUInt64: return true;
    default: return false;
  }
}

bool broadcast(const Dims& a, const Dims& b, Dims& result) {
  const std::size_t rank = std::max(a.size(), b.size());
  const auto dim = [rank](const Dims& of, std::size_t axis) {
    const std::size_t missing = rank - of.size();
    return axis < missing ? 1 : of[axis - missing];
  };
  Dims joined(rank);
  for (std::size_t axis = 0; axis < rank; ++axis) {
    const std::int64_t x = dim(a, axis), y = dim(b, axis);
    if (x != y && x != 1 && y != 1) return false;
    joined[axis] = x == 1 ? y : x;
  }
  result = joined;
  return true;
}

Values expanded(const HostTensor& tensor, const Dims& shape) {
  if (tensor.shape == shape) return tensor.values;
  const std::size_t missing = shape.size() - tensor.shape.size();
  const Dims own = strides_of(tensor.shape);
  Dims step(shape.size(), 0);
  for (std::size_t axis = missing; axis < shape.size(); ++axis)
    if (tensor.shape[axis - missing] != 1) step[axis] = own[axis - missing];

  Values result(static_cast<std::size_t>(count(shape)));
  Dims position(shape.size(), 0);
  std::int64_t source = 0;
  for (Value& value : result) {
    value = tensor.values[static_cast<std::size_t>(source)];
    for (std::size_t axis = shape.size(); axis-- > 0;) {
      source += step[axis];
      if (++position[axis] < shape[axis]) break;
      source -= step[axis] * shape[axis];
      position[axis] = 0;
    }
  }
  return result;
}

bool produced_by(MPSGraphTensor* tensor, const char* operation) {
  MPSGraphOperation* producer = tensor.operation;
  return producer->_compute && std::strcmp(producer.name.UTF8String, operation) == 0;
}

bool is_view(MPSGraphTensor* tensor) {
  if (produced_by(tensor, "reshape") || produced_by(tensor, "identity"))
    return is_view(tensor.operation.inputTensors.firstObject);
  return produced_by(tensor, "transpose") || produced_by(tensor, "slice") || produced_by(tensor, "broadcast");
}

bool constant_value(MPSGraphTensor* tensor, Values& values) {
  if (!produced_by(tensor, "constant")) return false;
  values = tensor.operation->_compute({}).front().values;
  return true;
}

Value wrapped(MPSDataType type, __int128 value) {
  const bool is_signed = (static_cast<std::uint32_t>(type) & MPSDataTypeSignedBit) != 0;
  const __int128 modulus = static_cast<__int128>(1) << (static_cast<std::uint32_t>(type) & 0xff);
  __int128 rest = value % modulus;
  if (rest < 0) rest += modulus;
  if (is_signed && rest >= modulus / 2) rest -= modulus;
  return static_cast<Value>(rest);
}

Dims Site::shape(MPSGraphTensor* tensor) const {
  require(tensor != nil, "a tensor that must be there is nil");
  require(tensor.shape != nil, "a tensor has no static shape");
  return dims(tensor.shape);
}

Dims Site::shape(MPSGraphTensor* tensor, std::size_t rank, const char* reason) const {
  const Dims result = shape(tensor);
  require(result.size() == rank, reason);
  return result;
}

MPSDataType Site::floating_type(std::initializer_list<MPSGraphTensor*> tensors) const {
  MPSDataType type = MPSDataTypeInvalid;
  for (MPSGraphTensor* tensor : tensors) {
    if (tensor == nil) continue;
    require(is_floating(tensor.dataType), "a tensor is not of a floating type");
    require(type == MPSDataTypeInvalid || type == tensor.dataType, "the tensors differ in type");
    type = tensor.dataType;
  }
  return type;
}

std::size_t Site::axis(NSInteger axis, std::size_t rank) const {
  const NSInteger dimensions = static_cast<NSInteger>(rank);
  require(axis >= -dimensions && axis < dimensions, "an axis is out of range");
  return static_cast<std::size_t>(axis < 0 ? axis + dimensions : axis);
}

Dims Site::sizes(NSArray<NSNumber*>* array, std::size_t length, std::int64_t minimum, const char* reason) const {
  require(array != nil && array.count == length, reason);
  const Dims result = dims(array);
  for (const std::int64_t size : result) require(size >= minimum, reason);
  return result;
}

void Site::check_size(const Dims& shape) const {
  require(!shape.empty(), "a tensor is of rank 0");
  require(shape.size() <= 16, "a tensor is of a rank above 16");
  for (const std::int64_t dim : shape) require(dim > 0, "a tensor has a dimension of size 0");
}

NSArray<MPSGraphTensor*>* Site::add(std::vector<MPSGraphTensor*> inputs, std::vector<TensorSpec> results,
                                    std::function<std::vector<Values>(const Operands&)> compute) const {
  // Metal itself ends the process on an empty tensor, and users report that MPSGraph mishandles those of rank 0.
  for (MPSGraphTensor* input : inputs)
    if (input != nil) check_size(shape(input));
  for (const TensorSpec& result : results) check_size(result.shape);

  const std::vector<TensorSpec> specs = results;
  return add_operation(graph, operation, std::move(inputs), std::move(results),
                       [specs, compute = std::move(compute)](const Operands& operands) {
                         std::vector<Values> values = compute(operands);
                         std::vector<HostTensor> tensors(specs.size());
                         for (std::size_t i = 0; i < specs.size(); ++i)
                           tensors[i] = {true, specs[i].shape, specs[i].type, std::move(values[i])};
                         return tensors;
                       });
}

MPSGraphTensor* Site::add_one(std::vector<MPSGraphTensor*> inputs, TensorSpec result,
                              std::function<Values(const Operands&)> compute) const {
  return add(std::move(inputs), {std::move(result)},
             [compute = std::move(compute)](const Operands& operands) {
               std::vector<Values> values;
               values.push_back(compute(operands));
               return values;
             })
      .firstObject;
}

}  // namespace stand_in
