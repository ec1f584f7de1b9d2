#include "gpu_sampler.h"

#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <string>

#include "profshim/base/clock.h"
#include "profshim/base/text/message_text.h"
#include "profshim/base/threads/signal_guard.h"

namespace profshim::session {
namespace {

constexpr std::int64_t kStopTimeout_ns = 200'000'000;

}  // namespace

void GpuSampler::tick(bool is_open, std::uint64_t windows) {
  if (!wanted_ || (is_open == is_open_ && windows == windows_)) return;
  {
    const std::lock_guard lock(mutex_);
    is_open_ = is_open;
    windows_ = windows;
  }
  changed_.notify_all();
  if (!is_open || is_started_) return;
  is_started_ = true;
  const int refused = start_thread(thread_, run, this);
  if (refused != 0)
    recorder::missing("system", "the counters of the GPUs cannot be shown: no thread could be started (" +
                                    std::string(error_text(refused)) + ")");
}

void GpuSampler::stop() {
  std::unique_lock lock(mutex_);
  is_stopped_ = true;
  changed_.notify_all();
  changed_.wait_for(lock, kStopTimeout_ns, [this] { return !is_in_nvml_; });
}

void* GpuSampler::run(void* sampler) {
  auto& self = *static_cast<GpuSampler*>(sampler);
  prctl(PR_SET_NAME, "profshim-gpus");
  self.tid_.store(static_cast<pid_t>(syscall(SYS_gettid)));
  self.sample_until_stopped();
  return nullptr;
}

void GpuSampler::sample_until_stopped() {
  std::uint64_t window = 0;
  std::unique_lock lock(mutex_);
  while (!is_stopped_) {
    changed_.wait_for(lock, -1, [this] { return is_stopped_ || is_open_; });
    const std::int64_t now_ns = monotonic_ns();
    if (windows_ != window) times_.begin(now_ns);
    window = windows_;
    const auto is_changed = [&] { return is_stopped_ || !is_open_ || windows_ != window; };
    if (changed_.wait_for(lock, std::max<std::int64_t>(times_.next_ns() - now_ns, 0), is_changed)) continue;
    is_in_nvml_ = true;
    lock.unlock();
    samples_.take();
    lock.lock();
    is_in_nvml_ = false;
    changed_.notify_all();
    times_.taken(monotonic_ns());
  }
}

}  // namespace profshim::session
