// An allocation of the job that fails for good closes the open windows, so that their traces are on disk before the job
// learns of the failure, of which it may die.
#pragma once

#include <atomic>
#include <cstdint>

#include "profshim/spool/format.h"

namespace profshim::session {

struct Recording;

/// The first failure in a window. One thread of the job fills it in and waits; the collector answers.
struct FailedAllocation {
  enum class Stage : std::uint8_t { kNone, kFilling, kAsked, kClosed };
  std::atomic<Stage> stage{Stage::kNone};  // kAsked releases the next three, kClosed releases `windows`
  std::uint64_t bytes = 0;
  int device = 0;  // or kHostMemory, kUnknownDevice
  Ticks end = 0;
  std::uint64_t windows = 0;  // opened until then: all of them are to be written
};

/// Closes the open windows if a failed allocation asks for it. Collector thread.
void close_after_failed_allocation(Recording& recording);

}  // namespace profshim::session
