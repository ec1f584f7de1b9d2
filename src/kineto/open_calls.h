// The calls of a window that had not ended when the spool was read: they show where a hung or killed thread was.
#pragma once

#include <map>
#include <utility>
#include <vector>

#include "profshim/spool/view.h"

namespace profshim::kineto {

class OpenCalls {
 public:
  /// Copies the calls in flight that began in [begin, until). Create it before the chunks are scanned: a call that ends
  /// in between is then seen twice, and drop_ended() removes it here. In the other order it would be missed.
  OpenCalls(const spool::View& view, Ticks begin, Ticks until);

  bool empty() const { return calls_.empty(); }
  /// Drops the calls that `events` of thread `tid` contain: they ended after the copy, or the process died after it had
  /// committed the call and before it had cleared it.
  void drop_ended(std::int64_t tid, const std::vector<const Event*>& events);
  /// Calls function(tid, call). An operation that may end on any thread comes with the tid `otherwise`.
  template <class Function>
  void for_each(std::int64_t otherwise, const Function& function) const {
    for (const auto& [key, call] : calls_) function(key.first == kAnyThread ? otherwise : key.first, call);
  }

 private:
  static constexpr std::int64_t kAnyThread = -1;
  void add(std::int64_t tid, const Event& source);

  Ticks begin_, until_;
  std::multimap<std::pair<std::int64_t, Ticks>, Event> calls_;  // by thread and begin
};

}  // namespace profshim::kineto
