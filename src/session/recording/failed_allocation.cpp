#include "failed_allocation.h"

#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <string>

#include "profshim/base/clock.h"
#include "profshim/base/log.h"
#include "profshim/recorder_control.h"
#include "recording.h"

namespace profshim::session {
namespace {

using Stage = FailedAllocation::Stage;

bool is_own_thread(const Recording& r) {
  const auto self = static_cast<pid_t>(syscall(SYS_gettid));
  const auto own = own_threads(r);
  return std::find(own.begin(), own.end(), self) != own.end();
}

bool is_written(const Recording& r) {
  const FailedAllocation& failed = r.failed_allocation;
  return failed.stage.load(std::memory_order_acquire) == Stage::kClosed &&
         r.queue.done.load(std::memory_order_acquire) >= failed.windows;
}

/// Polls, because the job may hold any lock. A direct system call is no cancellation point.
void wait_until_written(const Recording& r) {
  constexpr timespec kPause = {0, 1'000'000};
  const std::int64_t until = monotonic_ns() + r.plan.spec.output.exit_seconds * 1'000'000'000;
  while (!is_written(r) && live() != nullptr && monotonic_ns() < until) syscall(SYS_nanosleep, &kPause, nullptr);
}

}  // namespace

void allocation_failed(std::uint64_t bytes, int device, Ticks end) {
  Recording* const r = live();
  if (r == nullptr || !r->plan.spec.profile_memory || !has_open_window(*r) || is_own_thread(*r)) return;
  FailedAllocation& failed = r->failed_allocation;
  Stage none = Stage::kNone;
  if (!failed.stage.compare_exchange_strong(none, Stage::kFilling)) return;
  const int saved_errno = errno;
  failed.bytes = bytes;
  failed.device = device;
  failed.end = end;
  failed.stage.store(Stage::kAsked, std::memory_order_release);
  wait_until_written(*r);
  errno = saved_errno;
}

void close_after_failed_allocation(Recording& r) {
  FailedAllocation& failed = r.failed_allocation;
  if (failed.stage.load(std::memory_order_acquire) != Stage::kAsked) return;
  const std::string where = failed.device == kHostMemory      ? "in host memory"
                            : failed.device == kUnknownDevice ? "on a device"
                                                              : "on device " + std::to_string(failed.device);
  const std::string reason = "an allocation of " + std::to_string(failed.bytes) + " bytes failed " + where;
  const StringId limit = recorder::intern(reason);
  r.steps.windows().close_by_limit(failed.end, limit);
  r.phases.close_by_limit(failed.end, limit);
  failed.windows = recorder::header().windows.load(std::memory_order_acquire);
  failed.stage.store(Stage::kClosed, std::memory_order_release);
  log::line(LogLevel::kWarn, "%s: the window ends there, and its trace is written", reason.c_str());
}

}  // namespace profshim::session
