#pragma once

#include <functional>
#include <mutex>

#include "profshim/base/atomic_file.h"
#include "profshim/run/manifest.h"
#include "profshim/spec.h"
#include "profshim/window/costs.h"
#include "profshim/window_trace.h"

namespace profshim::write {

/// Tells if a new file replaces one of its name (output.overwrite).
AtomicFile::Existing existing(const Spec& spec);

/// True if `folder` has `wanted` bytes free (limits.disk_free), or if that is unknown. May block on the file system.
bool enough_space(const std::string& folder, std::uint64_t wanted, std::uint64_t& free_bytes);

/// A window's entry in summary-rank{rank}.json.
struct SummaryEntry {
  std::string file;     // name of the trace
  std::string answers;  // members of the entry, as JSON
};
/// Adds windows to summary-rank{rank}.json. Its text grows up to 16 MiB: then the oldest windows go, and are counted.
/// An entry replaces an earlier one of the same file. Returns 0 or an errno.
int add_to_summary(const std::string& folder, int folder_fd, int rank, const std::vector<SummaryEntry>& entries);

struct PublishOptions {
  std::string folder;  // absolute
  int folder_fd = -1;  // >= 0: used instead of the path
  bool recovered = false;
  const EventCosts* costs = nullptr;
  double stall_us = -1;
  std::optional<CpuUse> cpu;
  int gzip_threads = 0;
  std::function<void()> on_progress;
  /// Called with the trace's inode just before the file gets its final name; then with 0 if the renaming failed.
  std::function<void(std::uint64_t inode)> on_file;
  /// Called every few thousand events. Once it returns true, publish_window() throws kineto::GivenUp.
  std::function<bool()> give_up;
  std::uint64_t summary_bytes = 512 << 20;         // most memory that [summary] and key_averages may take
  std::uint64_t memory_page_bytes = 512 << 20;     // most memory that the page of memory_timeline may take
  std::function<void(std::string text)> on_table;  // called with the text that summary.table prints for the window
  /// Called instead of add_to_summary(), if set.
  std::function<void(SummaryEntry entry)> on_summary;
  std::mutex* gathering = nullptr;  // locked while events are collected, so that no chunk is freed
};
/// Writes a window as a trace file. If the file exists, tries "_part2", "_part3", ... unless output.overwrite = true.
/// Keeps a file that a killed process wrote for this window (spool::Window::file).
run::ManifestWindow publish_window(const spool::View& view, std::uint64_t number, const Spec& spec,
                                   const PublishOptions& options);

}  // namespace profshim::write
