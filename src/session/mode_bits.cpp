#include "mode_bits.h"

#include "profshim/recorder.h"

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

}  // namespace profshim::session
