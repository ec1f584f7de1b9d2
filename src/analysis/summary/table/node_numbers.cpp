#include "node_numbers.h"

#include <algorithm>
#include <stdexcept>

namespace profshim::analysis_detail {

int NodeNumbers::number_of(const Timeline& timeline) {
  const int id = timeline.recording ? timeline.recording->node_rank : -1;
  if (id < 0 && timeline.host.empty()) {
    throw std::runtime_error(timeline.path + ": the trace does not tell its node: group by rank");
  }
  auto node = std::find_if(nodes_.begin(), nodes_.end(), [&](const KeyNode& known) {
    return id >= 0 ? known.id == id : known.id < 0 && known.host == timeline.host;
  });
  if (node == nodes_.end()) node = nodes_.insert(node, KeyNode{.id = id, .host = timeline.host});
  const auto at = std::lower_bound(node->ranks.begin(), node->ranks.end(), timeline.rank);
  if (at == node->ranks.end() || *at != timeline.rank) node->ranks.insert(at, timeline.rank);
  return static_cast<int>(node - nodes_.begin());
}

std::vector<KeyNode> NodeNumbers::finish() {
  std::vector<KeyNode*> by_rank;
  for (KeyNode& node : nodes_) by_rank.push_back(&node);
  std::sort(by_rank.begin(), by_rank.end(), [](const KeyNode* a, const KeyNode* b) { return a->ranks < b->ranks; });
  const auto is_taken = [this](int id) {
    return std::any_of(nodes_.begin(), nodes_.end(), [id](const KeyNode& node) { return node.id == id; });
  };
  int next = 0;
  for (KeyNode* const node : by_rank) {
    if (node->id >= 0) continue;
    while (is_taken(next)) ++next;
    node->id = next;
  }
  return std::move(nodes_);
}

}  // namespace profshim::analysis_detail
