// From a window of a spool to a file under its final name: the same code for the writer thread and for recover.
#pragma once

#include <functional>
#include <mutex>

#include "profshim/output/manifest.h"
#include "profshim/spec.h"
#include "profshim/spool.h"

namespace profshim::output {

/// Has the file system of `folder` `wanted` bytes left (limits.disk_free)? True when that is not known. May wait for
/// the file system.
bool enough_space(const std::string& folder, std::uint64_t wanted, std::uint64_t& free_bytes);

/// Nanoseconds that recording one call takes of the thread that makes it, by Event::hook; < 0: not known.
struct EventCosts {
  double of_layer[static_cast<std::size_t>(Layer::kCount)];
  double memory;
};

struct PublishOptions {
  std::string folder;  // of the run, absolute
  int folder_fd = -1;  // >= 0: the folder, whatever lies at its path now
  bool recovered = false;
  const EventCosts* costs = nullptr;  // null: unknown
  double stall_us = -1;
  std::optional<spool::CpuUse> cpu;
  int gzip_threads = 0;
  std::function<void()> on_progress;
  /// The inode of the trace, just before it gets its name; 0 when it did not get it.
  std::function<void(std::uint64_t inode)> on_file;
  std::function<bool()> give_up;    // asked before each block that is written; true: the window has failed
  std::mutex* gathering = nullptr;  // held while events are looked for; no chunk may change hands then
};
/// Writes window `number` of the spool. Never replaces a file of this run; `status` says what happened: "written",
/// "empty", or "failed: " with the reason. A trace that was written by a process that was killed before it could say so
/// (spool::Window::file) is left as it is. Writer thread or tool.
ManifestWindow publish_window(const spool::View& view, std::uint64_t number, const Spec& spec,
                              const PublishOptions& options);

}  // namespace profshim::output
