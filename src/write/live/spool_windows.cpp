#include "spool_windows.h"

#include <algorithm>
#include <vector>

namespace profshim::write {

std::optional<std::uint64_t> SpoolWindows::next(std::uint64_t besides) const {
  const std::uint64_t opened = view_.header().windows.load(std::memory_order_acquire);
  for (std::uint64_t number = next_; number < opened; ++number) {
    const bool is_open = state_of(number) == spool::WindowState::kOpen;
    if (!is_open && number != besides && finished_.count(number) == 0) return number;
  }
  return std::nullopt;
}

std::uint64_t SpoolWindows::waiting() const {
  const std::uint64_t opened = view_.header().windows.load(std::memory_order_acquire);
  std::uint64_t closed = 0;
  for (std::uint64_t number = next_; number < opened; ++number) {
    closed += state_of(number) == spool::WindowState::kClosed && finished_.count(number) == 0 ? 1 : 0;
  }
  return closed;
}

void SpoolWindows::finish(std::uint64_t number) {
  finished_.insert(number);
  while (finished_.erase(next_) != 0) ++next_;
}

bool SpoolWindows::is_any_open() const {
  const std::uint64_t opened = view_.header().windows.load(std::memory_order_acquire);
  for (std::uint64_t number = next_; number < opened; ++number) {
    if (state_of(number) == spool::WindowState::kOpen) return true;
  }
  return false;
}

std::optional<std::uint64_t> SpoolWindows::open_window_of_steps() const {
  const std::uint64_t opened = view_.header().windows.load(std::memory_order_acquire);
  for (std::uint64_t number = next_; number < opened; ++number) {
    if (state_of(number) == spool::WindowState::kOpen && view_.window(number).phase == 0) return number;
  }
  return std::nullopt;
}

std::uint64_t whole_steps(const spool::View& view, const spool::Window& w) {
  if (w.first_mark == spool::kNoMark) return 1;
  const std::uint64_t begun = w.end_mark - w.first_mark;
  if (begun == 0) return 0;
  const bool is_last_whole = w.ended_by.load(std::memory_order_relaxed) == spool::WindowEnd::kSchedule ||
                             w.last_step_end.load(std::memory_order_relaxed) != 0;
  const std::vector<spool::StepMark> first = view.marks(w.first_mark, w.first_mark + 1);
  const bool is_first_cut = view.header().markers_end_steps != 0 && !first.empty() && first.front().index == 0;
  return begun - std::min<std::uint64_t>(begun, (is_last_whole ? 0 : 1) + (is_first_cut ? 1 : 0));
}

}  // namespace profshim::write
