// Writes a window of a spool as a trace file under its final name, for the writer thread and for `profshim recover`.
#pragma once

#include <functional>
#include <mutex>

#include "profshim/output/manifest.h"
#include "profshim/spec.h"
#include "profshim/window_trace.h"

namespace profshim::output {

/// Returns true if the file system of `folder` has `wanted` bytes left (limits.disk_free), or if that is not known. May
/// block on the file system.
bool enough_space(const std::string& folder, std::uint64_t wanted, std::uint64_t& free_bytes);

/// Nanoseconds that recording one event costs the calling thread, by layer; < 0 = not known.
struct EventCosts {
  double of_layer[static_cast<std::size_t>(Layer::kCount)];
  double memory;
};

struct PublishOptions {
  std::string folder;  // folder of the run, absolute
  int folder_fd = -1;  // >= 0: this open folder is used instead of the path
  bool recovered = false;
  const EventCosts* costs = nullptr;  // null: unknown
  double stall_us = -1;
  std::optional<kineto::CpuUse> cpu;
  int gzip_threads = 0;
  std::function<void()> on_progress;
  /// Called with the inode of the trace just before it gets its final name, and with 0 if it did not get it.
  std::function<void(std::uint64_t inode)> on_file;
  std::function<bool()> give_up;    // called before each block is written; true: stop, the window has failed
  std::mutex* gathering = nullptr;  // held while events are collected; no chunk may change its owner meanwhile
};
/// Writes window `number` of the spool. Never replaces a file of this run. `status` of the result is "written",
/// "empty", or "failed: " and the reason. If the process wrote the trace and was killed before it could record that
/// (spool::Window::file), keeps that file. Writer thread or tool.
ManifestWindow publish_window(const spool::View& view, std::uint64_t number, const Spec& spec,
                              const PublishOptions& options);

}  // namespace profshim::output
