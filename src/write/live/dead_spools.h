// Makes traces from spools that killed jobs left in memory, if their run folders still hold their runs, and removes the
// spools. Says so only about the run of this process.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "profshim/write/recover.h"
#include "written_windows.h"

namespace profshim::write {

/// Runs on the writer thread.
class DeadSpools {
 public:
  /// `must_stop`: thread-safe. `spare_bytes`: memory that the job can spare.
  DeadSpools(const WritePlan& plan, WindowQueue& queue, WrittenWindows& windows, std::uint64_t spare_bytes,
             std::function<bool()> must_stop);
  void recover_next();

 private:
  RecoverOptions options();
  bool has_time() const;
  bool recover(const std::string& name);
  void log_recovered_traces();

  const WritePlan& plan_;
  WindowQueue& queue_;
  WrittenWindows& windows_;
  const std::function<bool()> must_stop_;
  std::string folder_;
  std::vector<std::string> names_;
  std::size_t next_ = 0;
  bool is_over_ = false;
  std::uint64_t most_bytes_ = 0;
  std::int64_t until_ns_ = 0;
  std::size_t traces_ = 0;  // of this run
  std::string first_trace_;
};

}  // namespace profshim::write
