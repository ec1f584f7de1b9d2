#include "window_steps.h"

#include <algorithm>

namespace profshim::kineto {
namespace {

// Readers of ProfilerStep#N need numbers that rise by one.
bool count_up_by_one(const std::vector<spool::StepMark>& marks) {
  for (std::size_t i = 1; i < marks.size(); ++i) {
    if (marks[i].number <= 0 || marks[i].number - 1 != marks[i - 1].number) return false;
  }
  return true;
}

}  // namespace

WindowSteps::WindowSteps(std::vector<spool::StepMark> marks, Ticks last_step_end, bool cuts_first)
    : marks_(std::move(marks)), last_step_end_(last_step_end), cuts_first_(cuts_first) {
  if (marks_.empty()) return;
  const std::int64_t first = marks_.front().number;
  if (count_up_by_one(marks_) && first != kNoStepNumber && first >= 0) return;
  for (spool::StepMark& m : marks_) m.number = m.index;
}

void WindowSteps::set_window_end(Ticks end, bool is_boundary) {
  window_end_ = end;
  cuts_last_ = !is_boundary;
}

bool WindowSteps::is_complete(std::size_t i) const {
  if (cuts_first_ && marks_[i].index == 0) return false;
  return i + 1 < marks_.size() || !cuts_last_ || last_step_end_ > marks_[i].ticks;
}

Slice WindowSteps::slice(std::size_t i) const {
  const Ticks next = i + 1 < marks_.size() ? marks_[i + 1].ticks : 0;
  if (next != 0) return {marks_[i].ticks, next};
  const bool is_known = last_step_end_ > marks_[i].ticks;
  return {marks_[i].ticks, is_known ? std::min(last_step_end_, window_end_) : window_end_};
}

std::optional<std::int64_t> WindowSteps::cpu_ns(std::size_t i) const {
  const std::int64_t from = marks_[i].cpu_ns, to = next_mark(i).cpu_ns;
  return ends_at_mark(i) && from >= 0 && to >= from ? std::optional(to - from) : std::nullopt;
}

PerfReading WindowSteps::counted(std::size_t i) const {
  if (i + 1 >= counters_.size() || !ends_at_mark(i)) return {};
  return counters_[i + 1].since(counters_[i]);
}

const std::int64_t* WindowSteps::number_at(Ticks t) const {
  const auto next = std::upper_bound(marks_.begin(), marks_.end(), t,
                                     [](Ticks ticks, const spool::StepMark& mark) { return ticks < mark.ticks; });
  if (next == marks_.begin()) return nullptr;
  const auto i = static_cast<std::size_t>(next - marks_.begin()) - 1;
  return t < slice(i).end ? &marks_[i].number : nullptr;
}

}  // namespace profshim::kineto
