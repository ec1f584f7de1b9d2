#include "row_names.h"

#include <cxxabi.h>

#include <algorithm>
#include <cstdlib>
#include <iterator>
#include <memory>
#include <stdexcept>
#include <string>

#include "profshim/trace/schema.h"

namespace profshim::analysis_detail {
namespace {

constexpr std::uint32_t kUnknown = kNone - 1;  // not looked up yet

constexpr std::string_view kHelpers[] = {schema::name::kMemory,
                                         schema::name::kOutOfMemory,
                                         "profiler::_record_function_enter",
                                         "profiler::_record_function_enter_new",
                                         "profiler::_record_function_exit",
                                         "aten::is_leaf",
                                         "aten::output_nr",
                                         "aten::_version"};

bool is_helper(std::string_view name) {
  return std::find(std::begin(kHelpers), std::end(kHelpers), name) != std::end(kHelpers);
}

std::string row_name(std::string_view name) {
  if (name.starts_with(schema::name::kStepStart)) return "ProfilerStep*";
  std::string text(name);
  if (name.starts_with("_Z")) {
    int status = 0;
    const std::unique_ptr<char, decltype(&std::free)> plain(
        abi::__cxa_demangle(text.c_str(), nullptr, nullptr, &status), &std::free);
    if (status == 0 && plain != nullptr) text = plain.get();
  }
  return text;
}

std::string shapes_text(std::string_view json) {
  std::string text;
  for (const char c : json) {
    text += c;
    if (c == ',') text += ' ';
  }
  return text.empty() ? "[]" : text;
}

}  // namespace

RowNames::RowNames(const Texts& file_texts, Texts& row_texts)
    : file_texts_(file_texts),
      row_texts_(row_texts),
      names_(file_texts.size(), kUnknown),
      shapes_(file_texts.size(), kUnknown) {}

std::uint32_t RowNames::name_of(TextId name) {
  std::uint32_t& known = names_[name];
  if (known == kUnknown) {
    const std::string_view text = file_texts_[name];
    known = is_helper(text) ? kNone : row_texts_.add(row_name(text));
  }
  return known;
}

std::uint32_t RowNames::shapes_of(TextId input_dims) {
  std::uint32_t& known = shapes_[input_dims];
  if (known == kUnknown) known = row_texts_.add(shapes_text(file_texts_[input_dims]));
  return known;
}

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
