// The parts of one recording. Each part has its own rules for threads. Never destroyed: threads of the job may use it
// at exit.
#pragma once

#include <array>
#include <memory>

#include "failed_allocation.h"
#include "lifecycle.h"
#include "profshim/write/writer.h"
#include "session/limit_names.h"
#include "session/phases/phases.h"
#include "session/plan.h"
#include "session/recording_switch.h"
#include "session/samplers/cpu_reading.h"
#include "session/samplers/event_cost_meter.h"
#include "session/samplers/gpu/gpu_sampler.h"
#include "session/spool/spool_place.h"
#include "session/steps/step_finder.h"
#include "session/steps/steps.h"

namespace profshim::session {

struct Recording {
  explicit Recording(Plan what);

  Plan plan;
  SpoolPlace place;
  LimitNames limits;
  WindowQueue queue;
  TraceSize trace_size;
  RecordingSwitch recording_switch{plan, queue};
  Steps steps{plan, queue, recording_switch, limits};
  std::unique_ptr<StepFinder> finder;  // null unless the steps must be found
  Phases phases{{plan, queue, recording_switch, limits, trace_size, steps}};
  FailedAllocation failed_allocation;
  TickFunctions tick_functions;
  EventCostMeter costs;
  WindowCpu cpu;
  GpuSampler gpu_sampler;
  Lifecycle life;
  std::unique_ptr<write::LiveRecording> for_writer;
  std::unique_ptr<write::Writer> writer;
};

/// Returns null unless this process records.
Recording* live();

/// The threads of profshim in this process; 0 = none.
std::array<pid_t, 4> own_threads(const Recording& recording);

/// True if a window of steps or of a phase is open. Any thread.
bool has_open_window(const Recording& recording);

/// Lets threads of the job begin and end the phases that the spec asks for. Call before the recording begins.
void watch_threads_of_phases(const Recording& recording);

}  // namespace profshim::session
