// Calls in flight when the spool was read: they show where a thread hung or died.
#pragma once

#include <map>
#include <utility>
#include <vector>

#include "profshim/spool/view.h"

namespace profshim::kineto {

class OpenCalls {
 public:
  /// Copies calls that began in [begin, until). Create before scanning the runs: a call that ends in between is then
  /// seen twice, not missed.
  OpenCalls(const spool::View& view, Ticks begin, Ticks until);

  bool empty() const { return calls_.empty(); }
  /// Drops calls that `events` holds: they ended after the copy, or the process died before clearing Thread::open.
  void drop_ended(std::int64_t tid, const std::vector<const Event*>& events);
  /// `otherwise`: tid for operations that may end on any thread.
  template <class Function>
  void for_each(std::int64_t otherwise, const Function& function) const {
    for (const auto& [key, call] : calls_) function(key.first == kAnyThread ? otherwise : key.first, call);
  }

 private:
  static constexpr std::int64_t kAnyThread = -1;
  void add(std::int64_t tid, const Event& source);

  Ticks begin_, until_;
  std::multimap<std::pair<std::int64_t, Ticks>, Event> calls_;
};

}  // namespace profshim::kineto
