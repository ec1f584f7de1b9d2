#pragma once

#include <pthread.h>
#include <sys/types.h>

#include <atomic>
#include <mutex>

#include "gpu_samples.h"
#include "profshim/base/threads/futex_event.h"
#include "profshim/spec.h"
#include "session/samplers/sample_times.h"

namespace profshim::session {

/// Samples GPUs while a window is open, on a thread of its own: the collector must not wait for NVML, which takes up to
/// seconds to start. Never destroyed.
class GpuSampler {
 public:
  explicit GpuSampler(const Spec::System& wanted) : wanted_(wanted.gpu), times_(wanted.interval_seconds) {}

  /// Collector thread. `is_open`: a window is open; `windows`: opened so far. The first window starts the thread.
  void tick(bool is_open, std::uint64_t windows);
  /// Ends the sampling. Waits a fifth of a second at most for NVML: a call that hangs must not hold the job.
  void stop();
  /// Returns a gettid(); 0 = no thread.
  pid_t tid() const { return tid_.load(); }

 private:
  static void* run(void* sampler);
  void sample_until_stopped();

  const bool wanted_;
  SampleTimes times_;
  GpuSamples samples_;
  pthread_t thread_{};
  bool is_started_ = false;
  std::atomic<pid_t> tid_{0};
  std::mutex mutex_;
  FutexEvent changed_;
  // Guarded by mutex_; only the collector writes the first two.
  bool is_open_ = false;
  std::uint64_t windows_ = 0;
  bool is_stopped_ = false, is_in_nvml_ = false;
};

}  // namespace profshim::session
