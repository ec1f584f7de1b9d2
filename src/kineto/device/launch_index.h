// Correlation -> API call, over all calls that the device lane of a spool holds: eight bytes each and a bit.
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
  /// A call in a run of the view.
  void add(const Event& call);
  /// After the last add(). Of several calls with one correlation stays the one in [begin, end), then that of the
  /// runtime (the driver's was made inside it), then the first.
  void finish(Ticks begin, Ticks end);

  std::uint32_t size() const { return static_cast<std::uint32_t>(entries_.size()); }
  const Event& call(std::uint32_t position) const;
  /// Position of the call, or kNotFound. `hint` is where the last search of the same line of events ended: correlations
  /// rise along a stream and a thread, so that most searches end beside it.
  std::uint32_t find(std::uint32_t correlation, std::uint32_t& hint) const;

  void mark_work(std::uint32_t position) { has_work_[position] = true; }
  /// Has work of this call been found?
  bool has_work(std::uint32_t position) const { return has_work_[position]; }
  void mark_sync(std::uint32_t position) { has_sync_[position] = true; }
  /// Is the synchronisation shown that this call has made?
  bool has_sync(std::uint32_t position) const { return has_sync_[position]; }

 private:
  bool better(std::uint64_t a, std::uint64_t b, Ticks begin, Ticks end) const;
  const Event& event_of(std::uint64_t entry) const;

  const spool::View& view_;
  std::vector<std::uint64_t> entries_;  // correlation << 32 | View::slot_of(); sorted
  std::vector<bool> has_work_, has_sync_;
};

}  // namespace profshim::kineto
