#include "device_thread.h"

#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

#include "late_begin.h"
#include "other_clients.h"
#include "profshim/recorder_control.h"
#include "source.h"

namespace profshim::device {
namespace {

constinit StepListener step_listener = {[](const char*, Ticks) {}, [] {}, [](bool, Ticks) {}};

void serve(Source& source, std::int64_t& timeout_ns) {
  Capture& capture = source.capture;
  const bool was_on = capture.state() == Capture::State::kOn;
  // Before the wishes: a window that is seen here has asked for CUPTI already.
  const std::int64_t began_ns = shared.window_began_ns.exchange(0, std::memory_order_acq_rel);
  const std::uint32_t yield = shared.yields_asked.load(std::memory_order_acquire);
  const Capture::State before = capture.state();
  const bool refused_before = capture.refused();
  timeout_ns = capture.serve(wishes_now(), monotonic_ns());
  if (before == Capture::State::kYielded && capture.state() != before) shared.yielded_too_late.store(false);
  if (capture.refused() && !source.refusal_told) {
    source.refusal_told = true;
    say_there_is_none(capture.refusal());
  }
  source.said.not_recorded(capture);
  if (capture.gave_up()[0] != 0) {
    log::line(LogLevel::kWarn, "%s", capture.gave_up());
    recorder::problem("cupti", capture.gave_up());
  }
  if (capture.take_trouble()) shared.trouble.store(true, std::memory_order_relaxed);
  if (capture.state() == Capture::State::kOn) source.said.versions(capture);
  note_late_begins(source, was_on, began_ns);
  source.said.losses(capture);
  source.show();
  const bool yields = capture.state() == Capture::State::kYielded && shared.yields_met.exchange(yield) != yield;
  if (yields && shared.owner.load(std::memory_order_acquire) == Owner::kUs) wake_thread();  // it has gone already
  if (capture.state() != before || capture.refused() != refused_before || yields) shared.state_changed.ring();
}

// Null: there is no CUPTI to serve, and the trace says why.
Source* bring_up(const Spec& spec) {
  // No call of CUPTI before this: it cannot initialize without a device, and some releases crash then.
  if (const std::string problem = wait_for_devices(); !problem.empty()) {
    say_there_is_none(problem);
    return nullptr;
  }
  if (shared.wanted_finish.load(std::memory_order_acquire)) {
    if (shared.open_since_ns.load() != 0) say_there_is_none("the process ended while CUPTI came up");
    return nullptr;
  }
  FoundCupti found = find_cupti();
  if (!found.problem.empty()) {
    say_there_is_none(found.problem);
    return nullptr;
  }
  CaptureOptions options = options_of(spec, shared.budget.load());
  options.own_clock = !torch_is_mapped();
  auto* const source =
      new Source(std::move(found), options, step_listener, wanted_callbacks(spec, runtime_is_mapped()));
  if (const std::string problem = source->capture.prepare(shared.places_of_starter); !problem.empty()) {
    say_there_is_none(source->found.path + ": " + problem);
    return nullptr;
  }
  return source;
}

void serve_until_finished(Source& source) {
  while (source.capture.state() != Capture::State::kFinished) {
    const std::uint32_t seen = shared.wishes_changed.now();
    std::int64_t timeout_ns = -1;
    try {
      const std::int64_t silence_ns = take_back_after_silence(source);
      serve(source, timeout_ns);
      if (silence_ns >= 0) timeout_ns = timeout_ns < 0 ? silence_ns : std::min(timeout_ns, silence_ns);
    } catch (...) {  // no memory to say something: what it is about goes on
    }
    if (source.capture.state() == Capture::State::kFinished) break;
    // In the time that nobody wants anything else; one at least, however busy CUPTI is.
    if (source.capture.make_one_buffer()) continue;
    shared.wishes_changed.wait(seen, timeout_ns);
  }
  source.show();
}

}  // namespace

// A 32nd of the budget is for buffers of up to a megabyte, since each thread of the job may hold one; a 64th is for the
// tables of launches that are under way.
CaptureOptions options_of(const Spec& spec, std::uint64_t memory) {
  CaptureOptions options;
  memory = std::max(memory, recorder::kLeastRoom);  // with less nothing is recorded
  const std::uint64_t share = std::min<std::uint64_t>(memory / 32, 64 << 20);
  options.buffer_bytes = std::min<std::uint64_t>(share / 16, 1 << 20);
  options.buffers = share / options.buffer_bytes - BufferPool::kReserve;
  options.table_bytes = std::min<std::uint64_t>(memory / 64, 128 << 20);
  options.whole_graphs = spec.whole_graphs;
  options.memory = spec.profile_memory;
  options.synchronization = spec.cuda_sync;
  options.external = spec.activities.nccl;
  options.dump_folder = spec.cupti_dump;
  return options;
}

void say_there_is_no_memory() {
  log::line(LogLevel::kWarn, "no GPU activity is recorded: there is no memory for it");
  recorder::problem("cupti", "no GPU activity is recorded: there is no memory for it");
  recorder::set_mode(recorder::kCudaCalls, 0);
}

void say_there_is_none(const std::string& why) {
  log::line(LogLevel::kWarn, "no GPU activity is recorded: %s", why.c_str());
  recorder::problem("cupti", "no GPU activity is recorded: " + why);
  recorder::set_mode(recorder::kCudaCalls, 0);
}

void end_start(Phase next) {
  Phase expected = Phase::kStarting;
  shared.phase.compare_exchange_strong(expected, next);
  shared.state_changed.ring();
}

void set_listener(const StepListener& listener) { step_listener = listener; }

void* run_device_thread(void* argument) {
  const Spec& spec = *static_cast<const Spec*>(argument);
  prctl(PR_SET_NAME, "profshim-gpu");
  shared.thread_id.store(static_cast<std::int32_t>(syscall(SYS_gettid)));
  Source* source = nullptr;
  try {
    source = bring_up(spec);
  } catch (...) {
    say_there_is_no_memory();
  }
  if (source == nullptr) {
    end_start(Phase::kOver);
    return nullptr;
  }
  shared.source.store(source, std::memory_order_release);
  call_when_completed(wake_thread);
  if (void (*const ready)() = shared.on_ready.load()) ready();
  if (shared.owner.load() == Owner::kUs) {
    start_callbacks(*source);
  } else {
    say_yielded("before us");
  }
  end_start(Phase::kRunning);
  if (live() == nullptr) return nullptr;  // the process ended meanwhile
  serve_until_finished(*source);
  shared.state_changed.ring();
  return nullptr;
}

}  // namespace profshim::device
