#include "recording.h"

#include <utility>

#include "profshim/device.h"

namespace profshim::session {
namespace {

constexpr double kBytesPerEvent = 150;
constexpr double kBytesPerFrame = 60;
constexpr double kBytesOfInputs = 150;

double guessed_bytes_per_event(const Spec& spec) {
  const bool stacks = spec.with_stack || spec.native_stack;
  const double frames = stacks ? static_cast<double>(spec.stack_depth) : 0;
  return kBytesPerEvent + (spec.record_shapes ? kBytesOfInputs : 0) + frames * kBytesPerFrame;
}

}  // namespace

Recording::Recording(Plan what)
    : plan(std::move(what)),
      trace_size(plan.spec.limits.trace_size, guessed_bytes_per_event(plan.spec)),
      gpu_sampler(plan.spec.system) {}

std::array<pid_t, 4> own_threads(const Recording& r) {
  const pid_t writer = r.writer != nullptr ? r.writer->thread_id() : 0;
  return {r.life.collector_tid.load(), writer, device::device_thread_id(), r.gpu_sampler.tid()};
}

bool has_open_window(const Recording& r) { return r.steps.windows().current() != nullptr || r.phases.any_open(); }

}  // namespace profshim::session
