#include "cpu/memory_plan.hpp"

#include <algorithm>

namespace mpsgraph_native::cpu {
namespace {

constexpr std::size_t alignment = 64;

struct Block {
  std::size_t offset, bytes;
  int last_reader;
};

/// The lowest gap between the live blocks that is large enough.
std::size_t first_fit(const std::vector<Block>& live, std::size_t bytes) {
  std::size_t offset = 0;
  for (const Block& block : live) {  // sorted by offset
    if (block.offset >= offset + bytes) break;
    offset = std::max(offset, block.offset + block.bytes);
  }
  return offset;
}

}  // namespace

MemoryPlan plan_memory(const Program& program) {
  const int count = static_cast<int>(program.nodes.size());
  MemoryPlan plan;
  plan.places.resize(program.nodes.size());

  std::vector<std::vector<int>> last_reader(program.nodes.size());
  for (int index = 0; index < count; ++index) {
    last_reader[static_cast<std::size_t>(index)].assign(program.node(index).outputs.size(), index);
    for (const TensorRef input : program.node(index).inputs)
      if (input.present())
        last_reader[static_cast<std::size_t>(input.node)][static_cast<std::size_t>(input.output)] = index;
    plan.places[static_cast<std::size_t>(index)].resize(program.node(index).outputs.size());
  }
  const auto place = [&](TensorRef tensor) -> Place& {
    return plan.places[static_cast<std::size_t>(tensor.node)][static_cast<std::size_t>(tensor.output)];
  };

  for (std::size_t feed = 0; feed < program.feeds.size(); ++feed)
    place(program.feeds[feed]) = {Place::Kind::Feed, feed};
  std::size_t constants = 0;
  for (int index = 0; index < count; ++index)
    if (std::holds_alternative<Constant>(program.node(index).operation))
      place({index, 0}) = {Place::Kind::Constant, constants++};
  for (std::size_t target = 0; target < program.targets.size(); ++target)
    if (Place& where = place(program.targets[target]); where.kind == Place::Kind::Absent)
      where = {Place::Kind::Target, target};

  std::vector<Block> live;
  for (int index = 0; index < count; ++index) {
    std::erase_if(live, [&](const Block& block) { return block.last_reader < index; });
    const Node& node = program.node(index);
    for (std::size_t output = 0; output < node.outputs.size(); ++output) {
      Place& where = place({index, static_cast<int>(output)});
      if (where.kind != Place::Kind::Absent) continue;
      const std::size_t bytes = (node.outputs[output].bytes() + alignment - 1) / alignment * alignment;
      const std::size_t offset = first_fit(live, bytes);
      where = {Place::Kind::Arena, offset};
      const Block block{offset, bytes, last_reader[static_cast<std::size_t>(index)][output]};
      live.insert(std::ranges::upper_bound(live, offset, {}, &Block::offset), block);
      plan.arena_bytes = std::max(plan.arena_bytes, offset + bytes);
    }
  }
  return plan;
}

}  // namespace mpsgraph_native::cpu
