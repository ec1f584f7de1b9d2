#pragma once

#include <cstdint>
#include <optional>
#include <set>

#include "profshim/spool/view.h"

namespace profshim::write {

/// The windows of a live spool, and which of them wait to be written. Windows of phases may close before windows that
/// were opened earlier. Writer thread.
class SpoolWindows {
 public:
  explicit SpoolWindows(const spool::View& view) : view_(view) {}

  /// Returns the number of the next window that is no longer open, other than `besides`.
  std::optional<std::uint64_t> next(std::uint64_t besides = ~std::uint64_t{0}) const;
  /// Returns how many are closed, not written.
  std::uint64_t waiting() const;
  void finish(std::uint64_t number);
  /// True if all windows so far are finished.
  bool are_all_finished() const { return next_ >= view_.header().windows.load(std::memory_order_acquire); }
  bool is_any_open() const;
  std::optional<std::uint64_t> open_window_of_steps() const;

 private:
  spool::WindowState state_of(std::uint64_t number) const {
    return view_.window(number).state.load(std::memory_order_acquire);
  }

  const spool::View& view_;
  std::uint64_t next_ = 0;            // windows before this one are finished
  std::set<std::uint64_t> finished_;  // later windows that are finished
};

/// Returns how many whole steps a window holds. A window without steps counts as one.
std::uint64_t whole_steps(const spool::View& view, const spool::Window& window);

}  // namespace profshim::write
