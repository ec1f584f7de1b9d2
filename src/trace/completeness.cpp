#include "profshim/trace/completeness.h"

#include <algorithm>

namespace profshim {

int loss_row_of(std::string_view key) {
  for (std::size_t i = 0; i < std::size(kLossRows); ++i) {
    if (kLossRows[i].key == key && !kLossRows[i].sentence.empty()) return static_cast<int>(i);
  }
  return -1;
}

void WindowLosses::count(std::string_view key, std::uint64_t number) {
  if (const int row = loss_row_of(key); row >= 0) counts[static_cast<std::size_t>(row)] += number;
}

namespace {

bool is_in_closing_lines(const LossRow& row) {
  constexpr std::string_view kKeys[] = {"dropped_events", "names_lost", "definitions_lost", "pending_lost"};
  return std::find(std::begin(kKeys), std::end(kKeys), row.key) != std::end(kKeys);
}

void add_counts(const WindowLosses& losses, bool others_only, std::vector<std::string>& to) {
  for (std::size_t i = 0; i < std::size(kLossRows); ++i) {
    const LossRow& row = kLossRows[i];
    if (losses.counts[i] == 0 || row.sentence.empty() || (others_only && is_in_closing_lines(row))) continue;
    to.push_back(std::to_string(losses.counts[i]) + " " + std::string(row.sentence));
  }
}

}  // namespace

std::vector<std::string> missing_in(const WindowLosses& losses) {
  std::vector<std::string> missing;
  if (!losses.cut.empty()) missing.push_back(losses.cut);
  add_counts(losses, false, missing);
  missing.insert(missing.end(), losses.others.begin(), losses.others.end());
  return missing;
}

std::vector<std::string> other_losses_in(const WindowLosses& losses) {
  std::vector<std::string> others;
  add_counts(losses, true, others);
  others.insert(others.end(), losses.others.begin(), losses.others.end());
  return others;
}

std::string missing_text(const std::vector<std::string>& missing, std::size_t most) {
  std::string text;
  for (std::size_t i = 0; i < std::min(most, missing.size()); ++i) text += (i > 0 ? "; " : "") + missing[i];
  if (missing.size() > most) text += " and " + std::to_string(missing.size() - most) + " more";
  return text;
}

}  // namespace profshim
