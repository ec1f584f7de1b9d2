// From a window of a spool to a file under its final name: the same code for the writer thread and for recover.
#pragma once

#include <functional>
#include <mutex>

#include "profshim/manifest.h"
#include "profshim/spec.h"
#include "profshim/spool.h"

namespace profshim::output {

struct PublishOptions {
  std::string folder;  // of the run, absolute
  bool recovered = false;
  double overhead_ns_per_event = -1;  // < 0: unknown
  double stall_us = -1;
  std::optional<spool::CpuUse> cpu;
  int gzip_threads = 0;
  std::function<void()> on_progress;
  std::mutex* gathering = nullptr;  // held while events are looked for; no chunk may change hands then
};
/// Writes window `number` of the spool. Never replaces a file of this run; `status` says what happened: "written",
/// "empty", or "failed: " with the reason. Writer thread or tool.
ManifestWindow publish_window(const spool::View& view, std::uint64_t number, const Spec& spec,
                              const PublishOptions& options);

}  // namespace profshim::output
