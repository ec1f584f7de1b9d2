#pragma once

#include <cstdint>
#include <vector>

#include "profshim/spool/view.h"

namespace profshim::kineto {

class LaunchIndex {
 public:
  static constexpr std::uint32_t kNotFound = ~0u;

  explicit LaunchIndex(const spool::View& view) : view_(view) {}
  void reserve(std::size_t calls) { entries_.reserve(calls); }
  void add(const Event& call);
  /// Call after the last add(). Keeps one call per correlation id: prefers calls that begin in [begin, end), then a
  /// runtime call to the driver call inside it, then the first.
  void finish(Ticks begin, Ticks end);

  std::uint32_t size() const { return static_cast<std::uint32_t>(entries_.size()); }
  const Event& call(std::uint32_t position) const;
  /// Searches from position `hint`, then updates `hint`. Keep a hint per stream or thread: correlation ids rise there.
  std::uint32_t find(std::uint32_t correlation, std::uint32_t& hint) const;

  void mark_activity(std::uint32_t position) { has_activity_[position] = true; }
  bool has_activity(std::uint32_t position) const { return has_activity_[position]; }
  void mark_sync(std::uint32_t position) { has_sync_[position] = true; }
  bool has_sync(std::uint32_t position) const { return has_sync_[position]; }

 private:
  bool is_better(std::uint64_t a, std::uint64_t b, Ticks begin, Ticks end) const;
  const Event& event_of(std::uint64_t entry) const;

  const spool::View& view_;
  std::vector<std::uint64_t> entries_;  // correlation << 32 | View::slot_of(); sorted
  std::vector<bool> has_activity_, has_sync_;
};

}  // namespace profshim::kineto
