#include "graph/serialization.hpp"

#include <algorithm>
#include <bit>
#include <cstring>

namespace mpsgraph_native {
namespace {

static_assert(std::endian::native == std::endian::little, "numbers and constants are written as they lie");

/// The alternatives of AttributeValue, by their index.
enum class Tag : std::uint8_t { Bool = 0, Integer = 1, Real = 2, Integers = 3 };
static_assert(std::variant_size_v<AttributeValue> == 4);

class Writer {
 public:
  template <class T>
    requires std::is_arithmetic_v<T>
  void number(T value) {
    bytes(&value, sizeof value);
  }

  void count(std::size_t value) { number(static_cast<std::uint32_t>(value)); }

  void bytes(const void* data, std::size_t size) { result_.append(static_cast<const char*>(data), size); }

  void string(std::string_view value) {
    count(value.size());
    bytes(value.data(), value.size());
  }

  void attribute(const AttributeValue& value) {
    number(static_cast<std::uint8_t>(value.index()));
    std::visit(
        [&]<class T>(const T& held) {
          if constexpr (std::is_same_v<T, bool>) {
            number(static_cast<std::uint8_t>(held));
          } else if constexpr (std::is_arithmetic_v<T>) {
            number(held);
          } else {
            count(held.size());
            for (const std::int64_t item : held) number(item);
          }
        },
        value);
  }

  void type(const TensorType& type) {
    number(static_cast<std::uint32_t>(type.dtype));
    count(static_cast<std::size_t>(type.shape.rank()));
    for (const std::int64_t dim : type.shape) number(dim);
  }

  void tensors(const std::vector<TensorRef>& tensors) {
    count(tensors.size());
    for (const TensorRef tensor : tensors) {
      number(std::int32_t{tensor.node});
      number(std::int32_t{tensor.output});
    }
  }

  void node(const Node& node) {
    string(name_of(node.operation));
    string(node.name);
    const AttributeMap attributes = attributes_of(node.operation);
    count(attributes.size());
    for (const auto& [name, value] : attributes) {
      string(name);
      attribute(value);
    }
    tensors(node.inputs);
    count(node.outputs.size());
    for (const TensorType& output : node.outputs) type(output);
    if (const auto* constant = std::get_if<Constant>(&node.operation)) {
      number(std::uint64_t{constant->data->size()});
      bytes(constant->data->data(), constant->data->size());
    }
  }

  std::string take() { return std::move(result_); }

 private:
  std::string result_;
};

class Reader {
 public:
  explicit Reader(std::string_view bytes) : rest_(bytes) {}

  ReadProgram program() {
    const std::uint32_t nodes = number<std::uint32_t>();
    for (std::uint32_t index = 0; index < nodes; ++index) node();
    read_.feeds = tensors(false);
    read_.targets = tensors(false);
    if (!rest_.empty()) throw CompileError(text(rest_.size(), " bytes follow the end of the program"));
    return std::move(read_);
  }

 private:
  std::string_view bytes(std::uint64_t size) {
    if (size > rest_.size())
      throw CompileError(text("the program ends early: ", size, " bytes are announced, ", rest_.size(), " are left"));
    const std::string_view taken = rest_.substr(0, static_cast<std::size_t>(size));
    rest_.remove_prefix(taken.size());
    return taken;
  }

  template <class T>
  T number() {
    T value;
    std::memcpy(&value, bytes(sizeof value).data(), sizeof value);
    return value;
  }

  std::string_view string() { return bytes(number<std::uint32_t>()); }

  AttributeValue attribute() {
    const auto tag = static_cast<Tag>(number<std::uint8_t>());
    switch (tag) {
      case Tag::Bool: {
        const auto value = number<std::uint8_t>();
        if (value > 1) throw CompileError(text("a flag must be 0 or 1, got ", value));
        return value == 1;
      }
      case Tag::Integer: return number<std::int64_t>();
      case Tag::Real: return number<double>();
      case Tag::Integers: {
        std::vector<std::int64_t> values;
        for (std::uint32_t left = number<std::uint32_t>(); left > 0; --left) values.push_back(number<std::int64_t>());
        return values;
      }
    }
    throw CompileError(text("an attribute has the unknown kind ", static_cast<int>(tag)));
  }

  TensorType type() {
    TensorType type;
    type.dtype = static_cast<DataType>(number<std::uint32_t>());
    for (std::uint32_t left = number<std::uint32_t>(); left > 0; --left) type.shape.push_back(number<std::int64_t>());
    return type;
  }

  std::vector<TensorRef> tensors(bool may_be_absent) {
    const std::vector<Node>& nodes = read_.graph.nodes();
    std::vector<TensorRef> tensors;
    for (std::uint32_t left = number<std::uint32_t>(); left > 0; --left) {
      TensorRef tensor;
      tensor.node = number<std::int32_t>();
      tensor.output = number<std::int32_t>();
      const bool known = tensor.present() && static_cast<std::size_t>(tensor.node) < nodes.size() &&
                         tensor.output >= 0 &&
                         static_cast<std::size_t>(tensor.output) < read_.graph.node(tensor.node).outputs.size();
      if (!known && !(may_be_absent && tensor == TensorRef{}))
        throw CompileError(text("no operation before gives the tensor ", tensor.node, ':', tensor.output));
      tensors.push_back(tensor);
    }
    return tensors;
  }

  Operation operation(std::string_view kind) {
    AttributeMap attributes;
    for (std::uint32_t left = number<std::uint32_t>(); left > 0; --left) {
      std::string name(string());
      attributes.emplace_back(std::move(name), attribute());
    }
    Operation operation = make_operation(kind, attributes);
    // What this version does not know would not be computed.
    const AttributeMap known = attributes_of(operation);
    if (attributes.size() > known.size())
      throw CompileError(text(kind, " has ", attributes.size(), " attributes, expected ", known.size()));
    for (const auto& [name, value] : attributes)
      if (std::ranges::none_of(known, [&](const auto& entry) { return entry.first == name; }))
        throw CompileError(text(kind, " has no attribute ", name));
    return operation;
  }

  void node() {
    const std::string_view kind = string();
    const std::string name(string());
    Operation operation = this->operation(kind);
    std::vector<TensorRef> inputs = tensors(true);
    std::vector<TensorType> outputs;
    for (std::uint32_t left = number<std::uint32_t>(); left > 0; --left) outputs.push_back(type());
    if (auto* constant = std::get_if<Constant>(&operation)) {
      const std::string_view data = bytes(number<std::uint64_t>());
      const auto* elements = reinterpret_cast<const std::byte*>(data.data());
      constant->data = std::make_shared<const std::vector<std::byte>>(elements, elements + data.size());
    }
    const int index = read_.graph.add(std::move(operation), std::move(inputs), name);
    if (read_.graph.node(index).outputs != outputs)
      throw CompileError(text(kind, " (", name, ") gives results of other shapes or dtypes than were written"));
  }

  std::string_view rest_;
  ReadProgram read_;
};

}  // namespace

std::string serialize(const Program& program) {
  Writer writer;
  writer.count(program.nodes.size());
  for (const Node& node : program.nodes) writer.node(node);
  writer.tensors(program.feeds);
  writer.tensors(program.targets);
  return writer.take();
}

ReadProgram deserialize(std::string_view bytes) { return Reader(bytes).program(); }

}  // namespace mpsgraph_native
