// The detail of events that are recorded now: that of the top level, and that of each phase whose window is near or
// open. A window shows its own detail only.
#pragma once

#include "profshim/spec.h"

namespace profshim::session {

/// Returns spool::DetailBits.
std::int64_t bits_of(const Detail& detail);
/// Adds the stacks and inputs of `more`: as often and as deep as either asks for.
void add(Detail& sum, const Detail& more);

/// One thread at a time.
class DetailSwitch {
 public:
  /// Makes the stacks ready that `all` asks for. Call once the session is live.
  void prepare(const Detail& all);
  /// Records `now` from here on.
  void choose(const Detail& now) const;

 private:
  bool can_take_stacks_ = false;
};

}  // namespace profshim::session
