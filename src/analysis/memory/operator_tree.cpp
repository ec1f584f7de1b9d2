#include "operator_tree.h"

#include <algorithm>
#include <string_view>

#include "profshim/trace/schema.h"

namespace profshim::analysis_detail {

std::size_t OperatorTree::KeyHash::operator()(const Node& node) const {
  constexpr std::size_t kFactor = 0x9E3779B97F4A7C15u;
  return ((node.parent * kFactor + node.name) * kFactor + node.stack) * 2 + (node.is_python ? 1 : 0);
}

void OperatorTree::begin(std::uint32_t track, const Slice& slice) {
  constexpr std::int64_t kRounding_ns = 1000;  // older Kineto rounds begin and duration to microseconds
  if (track >= open_.size()) open_.resize(track + 1);
  std::vector<Open>& open = open_[track];
  while (!open.empty() &&
         (open.back().slice.end_ns <= slice.begin_ns || open.back().slice.end_ns + kRounding_ns < slice.end_ns)) {
    open.pop_back();
  }
  if (slice.is_call && !open.empty() && open.back().slice.is_call) return;
  open.push_back({slice});
  if (open.size() > 1) {
    std::int64_t& end_ns = open.back().slice.end_ns;
    end_ns = std::min(end_ns, open[open.size() - 2].slice.end_ns);
  }
}

OperatorTree::NodeId OperatorTree::node_at(std::uint32_t track, std::int64_t at_ns) {
  if (track >= open_.size()) return kRoot;
  std::vector<Open>& open = open_[track];
  while (!open.empty() && open.back().slice.end_ns < at_ns) open.pop_back();
  std::size_t known = open.size();
  while (known > 0 && open[known - 1].node == kRoot) --known;
  NodeId node = known > 0 ? open[known - 1].node : kRoot;
  for (; known < open.size(); ++known) node = open[known].node = child(node, open[known].slice);
  return node;
}

OperatorTree::NodeId OperatorTree::child(NodeId parent, const Slice& slice) {
  const Node node{parent, slice.name, slice.stack, part_of(nodes_[parent], slice), slice.is_python};
  const auto [at, is_new] = ids_.emplace(node, static_cast<NodeId>(nodes_.size()));
  if (is_new) nodes_.push_back(node);
  return at->second;
}

StepPart OperatorTree::part_of(const Node& parent, const Slice& slice) const {
  const std::string_view name = texts_[slice.name];
  if (slice.is_python || slice.is_call) return parent.part;
  if (name.starts_with(schema::name::kOptimizerStepStart)) return StepPart::kOptimizer;
  if (name.starts_with(schema::name::kBackwardStart)) return StepPart::kBackward;
  if (name.starts_with(schema::name::kDataLoaderStart)) return StepPart::kDataLoader;
  return parent.part == StepPart::kNoOperator ? StepPart::kOperator : parent.part;
}

std::string OperatorTree::operators(NodeId id) const {
  constexpr std::size_t kMost = 8;
  std::vector<std::string_view> names;
  for (; id != kRoot && names.size() <= kMost; id = nodes_[id].parent) {
    if (!nodes_[id].is_python) names.push_back(texts_[nodes_[id].name]);
  }
  std::string text;
  if (names.size() > kMost) {
    names.pop_back();
    text = "\u2026 > ";
  }
  for (std::size_t i = names.size(); i-- > 0;) text.append(names[i]).append(i > 0 ? " > " : "");
  return text;
}

std::string OperatorTree::stack(NodeId id) const {
  constexpr std::string_view kBetween = " \u2190 ";
  constexpr std::size_t kMostBytes = 4000;  // the page shows less
  std::string text;
  for (NodeId at = id; at != kRoot && text.empty(); at = nodes_[at].parent) {
    for (const char c : texts_[nodes_[at].stack].substr(0, kMostBytes)) {
      c == ';' ? text.append(kBetween) : text.append(1, c);
    }
  }
  for (NodeId at = id; at != kRoot && text.size() < kMostBytes; at = nodes_[at].parent) {
    if (nodes_[at].is_python) text.append(text.empty() ? "" : kBetween).append(texts_[nodes_[at].name]);
  }
  return text;
}

}  // namespace profshim::analysis_detail
