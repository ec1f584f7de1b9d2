#include "findings.h"

#include <algorithm>

namespace profshim::analysis_detail {

void Findings::add(int item, bool must, std::string_view what, const std::string& where, std::string_view consumers) {
  for (Entry& entry : entries_) {
    if (entry.finding.item != item || entry.what != what) continue;
    ++entry.finding.count;
    return;
  }
  std::string message(what);
  if (!where.empty()) message += ": " + where;
  entries_.push_back(
      {what, {.item = item, .must = must, .breaks = std::string(consumers), .message = std::move(message)}});
}

void Findings::move_to(std::vector<Finding>& report, bool ours) {
  std::stable_sort(entries_.begin(), entries_.end(),
                   [](const Entry& a, const Entry& b) { return a.finding.item < b.finding.item; });
  for (Entry& entry : entries_) {
    Finding& finding = report.emplace_back(std::move(entry.finding));
    finding.must = finding.must && (ours || !finding.breaks.empty());
  }
  entries_.clear();
}

std::string where_is(std::uint64_t offset) { return "at byte " + std::to_string(offset); }

std::string where_is(const ReadEvent& event) {
  constexpr std::size_t kShown = 60;
  std::string name(event.name.substr(0, kShown));
  std::replace_if(
      name.begin(), name.end(), [](unsigned char c) { return c < 0x20 || c == 0x7f; }, ' ');
  if (event.name.size() > kShown) name += "...";
  return "'" + name + "' " + where_is(event.offset);
}

}  // namespace profshim::analysis_detail
