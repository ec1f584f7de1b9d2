#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "analysis/model/texts.h"

namespace profshim::analysis_detail {

/// The part of a training step that allocates, as the names of the ranges around it tell.
enum class StepPart : std::uint8_t { kNoOperator, kOperator, kBackward, kOptimizer, kDataLoader };
inline constexpr std::size_t kStepParts = 5;

/// The operators, ranges and Python functions around an event, as a node of a tree: an event in aten::empty, called by
/// aten::linear, has the node of aten::empty, whose parent is the node of aten::linear.
class OperatorTree {
 public:
  using NodeId = std::uint32_t;
  static constexpr NodeId kRoot = 0;  // no operator
  struct Node {
    NodeId parent = kRoot;
    TextId name = 0, stack = 0;
    StepPart part = StepPart::kNoOperator;
    bool is_python = false;
  };
  struct Slice {
    std::int64_t begin_ns = 0, end_ns = 0;
    TextId name = 0, stack = 0;  // stack: frames that ";" separates; 0 = not recorded
    bool is_python = false;
    bool is_call = false;  // of CUDA: one inside another is left out
  };

  explicit OperatorTree(const Texts& texts) : texts_(texts), nodes_(1) {}

  /// Slices and events of a track must come in the order of time, a slice before those inside.
  void begin(std::uint32_t track, const Slice& slice);
  NodeId node_at(std::uint32_t track, std::int64_t at_ns);

  const Node& operator[](NodeId id) const { return nodes_[id]; }
  std::size_t size() const { return nodes_.size(); }
  /// Returns "aten::linear > aten::addmm > aten::empty", without the outermost ones if there are many; "" = none.
  std::string operators(NodeId id) const;
  /// Returns the frames, innermost first; "" = not recorded.
  std::string stack(NodeId id) const;

 private:
  struct Open {
    Slice slice;
    NodeId node = kRoot;  // kRoot = nothing has happened in it
  };
  struct KeyHash {
    std::size_t operator()(const Node& node) const;
  };
  struct KeyEqual {
    bool operator()(const Node& a, const Node& b) const {
      return a.parent == b.parent && a.name == b.name && a.stack == b.stack && a.is_python == b.is_python;
    }
  };
  NodeId child(NodeId parent, const Slice& slice);
  StepPart part_of(const Node& parent, const Slice& slice) const;

  const Texts& texts_;
  std::vector<Node> nodes_;
  std::unordered_map<Node, NodeId, KeyHash, KeyEqual> ids_;
  std::vector<std::vector<Open>> open_;  // by track; each inside the one before
};

}  // namespace profshim::analysis_detail
