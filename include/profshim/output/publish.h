// Writes a window of a spool as a trace file, for the writer thread and `profshim recover`.
#pragma once

#include <functional>
#include <mutex>

#include "profshim/output/manifest.h"
#include "profshim/spec.h"
#include "profshim/window_trace.h"

namespace profshim::output {

/// Returns true if `folder` has `wanted` bytes left (limits.disk_free), or if unknown. May block on the file system.
bool enough_space(const std::string& folder, std::uint64_t wanted, std::uint64_t& free_bytes);

/// Nanoseconds per recorded event; < 0 = unknown.
struct EventCosts {
  double of_layer[static_cast<std::size_t>(Layer::kCount)];
  double memory;
};

struct PublishOptions {
  std::string folder;  // absolute
  int folder_fd = -1;  // >= 0: used instead of the path
  bool recovered = false;
  const EventCosts* costs = nullptr;  // null: unknown
  double stall_us = -1;
  std::optional<kineto::CpuUse> cpu;
  int gzip_threads = 0;
  std::function<void()> on_progress;
  /// Called with the trace's inode just before it gets its final name; with 0 if that failed.
  std::function<void(std::uint64_t inode)> on_file;
  std::function<bool()> give_up;    // called before each block; true: stop, the window has failed
  std::mutex* gathering = nullptr;  // held while events are collected: no chunk may change its owner
};
/// Writes window `number`. Never replaces a file of this run. `status` of the result: "written", "empty", or "failed: "
/// and the reason. If the process was killed after writing the trace but before recording that (spool::Window::file),
/// keeps that file. Writer thread or tool.
ManifestWindow publish_window(const spool::View& view, std::uint64_t number, const Spec& spec,
                              const PublishOptions& options);

}  // namespace profshim::output
