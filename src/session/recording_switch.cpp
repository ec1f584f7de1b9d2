#include "recording_switch.h"

#include "profshim/device.h"
#include "profshim/recorder.h"
#include "profshim/recorder_control.h"

namespace profshim::session {

std::uint32_t mode_bits(const Spec& spec) {
  std::uint32_t bits = recorder::kActive;
  if (spec.activities.mpi) bits |= recorder::kMpi;
  if (spec.activities.nvtx) bits |= recorder::kNvtx;
  if (spec.activities.nccl) bits |= recorder::kNccl;
  if (spec.activities.cuda) bits |= recorder::kCuda;
  if (spec.activities.cpu) bits |= recorder::kTorch;
  if (spec.activities.cpu && spec.profile_memory) bits |= recorder::kMemory;
  if (spec.python_calls) bits |= recorder::kPythonCalls;
  if (!spec.fold_polls) bits |= recorder::kEachPoll;
  if (!spec.steps.epoch.empty()) bits |= recorder::kNvtxSteps | recorder::kTorchSteps;
  if (has_phases_of(spec, PhaseSource::kNvtx)) bits |= recorder::kNvtxSteps;
  if (has_phases_of(spec, PhaseSource::kTorch)) bits |= recorder::kTorchSteps;
  return bits;
}

using recorder::kArmed;

void RecordingSwitch::call_when_arming(void (*function)(bool armed)) {
  for (auto& slot : listeners_) {
    void (*present)(bool) = nullptr;
    if (slot.compare_exchange_strong(present, function) || present == function) return;
  }
}

void RecordingSwitch::tell(bool armed) const {
  for (const auto& slot : listeners_) {
    if (auto* const function = slot.load()) function(armed);
  }
}

bool RecordingSwitch::has_all_traces() const {
  return !removes_traces(plan_.spec) &&
         queue_.opened.load(std::memory_order_relaxed) >= static_cast<std::uint64_t>(plan_.spec.limits.total_traces);
}

void RecordingSwitch::arm(Ticks window_begin) {
  recorder::set_mode(kArmed, 0);
  device::arm(window_begin);
  tell(true);
}

void RecordingSwitch::disarm(Ticks at, bool is_near, bool often) {
  if (is_wanted()) return;
  const bool all_opened = queue_.all_opened.load() || has_all_traces();
  const bool of_steps =
      plan_.records_steps && !queue_.steps_over.load() && plan_.spec.steps.source != StepSource::kNone;
  const bool may_come = !all_opened && (of_steps || plan_.records_phases);
  const device::NextWindow next = is_near    ? device::NextWindow::kNear
                                  : may_come ? device::NextWindow::kLater
                                             : device::NextWindow::kNone;
  recorder::set_mode(0, kArmed);
  device::disarm(at, next);
  if (!often) tell(false);
  // Another thread may have wanted the recording in between.
  if (is_wanted()) arm(ticks());
}

}  // namespace profshim::session
