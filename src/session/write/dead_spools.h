// Makes traces from spools that killed jobs left in memory, if their run folders still hold their runs, and removes the
// spools. Says so only about the run of this process.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "profshim/output/recover.h"
#include "session/state.h"

namespace profshim::session {

/// Runs on the writer thread.
class DeadSpools {
 public:
  explicit DeadSpools(State& state);
  void recover_next();

 private:
  bool must_stop() const;
  output::RecoverOptions options();
  bool recover(const std::string& name);
  void log_recovered_traces();

  State& s_;
  std::string folder_;
  std::vector<std::string> names_;
  std::size_t next_ = 0;
  bool is_over_ = false;
  std::uint64_t most_bytes_ = 0;
  std::int64_t until_ns_ = 0;
  std::size_t traces_ = 0;  // of this run
  std::string first_trace_;
};

}  // namespace profshim::session
