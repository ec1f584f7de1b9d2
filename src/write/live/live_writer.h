#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "profshim/write/publish.h"
#include "spool_windows.h"
#include "written_windows.h"

namespace profshim::write {

/// Writes the windows of a live recording, its manifest and its summary. Writer thread.
class LiveWriter {
 public:
  LiveWriter(const WritePlan& plan, WindowQueue& queue, TraceSize& trace_size, LiveRecording& recording,
             const spool::View& view, WrittenWindows& windows);

  /// Writes closed windows until there are none. Begins none after `begin_until_ns`, but the first of the calls with a
  /// time other than kNoEnd.
  void publish_all(const std::atomic<std::int64_t>& begin_until_ns);
  bool has_work() const { return in_spool_.next().has_value(); }

  /// Measures the JSON of the open window's newest events, if its size is near limits.trace_size.
  void measure_size();
  void save_manifest(const char* state);
  /// Writes the manifest if its state has changed, or the steps, at most once per second.
  void refresh_manifest();
  /// The age of the claim file shows other hosts and containers that this process lives.
  void show_life();
  /// Removes the spool early, so that a process killed later leaves none in memory.
  void remove_spool_if_over();
  /// See summary.table.
  const std::string& last_table() const { return last_table_; }

 private:
  bool publish_next();
  bool may_begin(std::int64_t begin_until_ns);
  void wait_for_device(Ticks window_end);
  void publish(spool::Window& window);
  std::optional<EventCosts> event_costs() const;
  void note(const run::ManifestWindow& window);
  void log_failed(const run::ManifestWindow& window) const;
  void log_not_in_summary(const run::ManifestWindow& window) const;
  void write_summary();
  const char* current_state() const;
  spool::Window& window(std::uint64_t number) const;

  const WritePlan& plan_;
  WindowQueue& queue_;
  TraceSize& trace_size_;
  LiveRecording& recording_;
  const spool::View& view_;
  WrittenWindows& windows_;
  SpoolWindows in_spool_;
  bool has_begun_at_end_ = false;
  Ticks measured_at_ = 0;
  const char* last_state_ = "";
  std::int64_t last_manifest_ns_ = 0, last_sign_ns_;
  std::vector<SummaryEntry> summary_;  // not in the file yet
  std::string last_table_;
};

}  // namespace profshim::write
