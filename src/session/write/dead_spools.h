// Spools that killed jobs of this user have left in memory: made into traces where their folder still exists, and
// removed.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "profshim/output/recover.h"
#include "session/state.h"

namespace profshim::session {

/// Works beside the recording, on the writer thread, a spool at a time: bounded in number, memory and time.
class DeadSpools {
 public:
  explicit DeadSpools(State& state);
  /// One spool, if any is left.
  void recover_next();

 private:
  bool told_to_stop() const;
  output::RecoverOptions options();
  void say_what_was_found();

  State& s_;
  std::vector<std::string> names_;
  std::size_t next_ = 0;
  std::uint64_t most_bytes_ = 0;
  std::int64_t until_ns_ = 0;
  std::size_t traces_ = 0;
  std::string first_trace_;
};

}  // namespace profshim::session
