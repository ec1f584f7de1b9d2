// What the rest of the library sees of the GPU: wishes go to the device thread, which alone talks to CUPTI.
#include "profshim/device.h"

#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstring>

#include "capture.h"
#include "launch_callbacks.h"
#include "own_thread.h"
#include "profshim/recorder_control.h"
#include "said.h"
#include "spool_output.h"

namespace profshim::device {
namespace {

// ---- what the threads tell each other; none of it is behind a lock

enum class Phase : std::uint8_t {
  kIdle,      // start() has not been here
  kStarting,  // the device thread waits for cuInit and looks for CUPTI
  kRunning,   // it serves CUPTI
  kOver,      // there is none, or we are in a forked child
};
constinit std::atomic<Phase> phase{Phase::kIdle};
constinit std::atomic<bool> external{false};  // operations are pushed
constinit std::atomic<bool> wanted_on{false};
constinit std::atomic<std::int64_t> start_deadline_ns{0};  // of await_start()
constinit std::atomic<void (*)()> on_ready{nullptr};
// cudaProfilerStart is there to start a profiler: it waits until CUPTI is on. A step boundary never waits.
constinit std::atomic<bool> boundaries_wait{false};
constinit std::atomic<std::int64_t> late_since_ns{0};  // a window began then without CUPTI
// A window was open then, and CUPTI had still to be found.
constinit std::atomic<std::int64_t> open_since_ns{0};
/// Has the first CUDA call of the process waited for CUPTI?
enum class FirstCall : std::uint8_t {
  kNotSeen,  // there was none, or no hook of ours saw it
  kHeld,
  kNotHeld,  // it went on before CUPTI was on
};
constinit std::atomic<FirstCall> first_call{FirstCall::kNotSeen};
// A window began then, and CUPTI was on as far as its thread saw: the device thread knows whether it stayed on.
constinit std::atomic<std::int64_t> window_began_ns{0};
// CUPTI was not switched on while a thread waited for that in a callback: it seems to wait for the callback. Tried
// once.
constinit std::atomic<bool> callbacks_block{false};
/// The client that may use the activity API of the process.
enum class Owner : std::uint8_t {
  kUs,
  kOther,
  kOtherIsSilent,  // it has disabled its kinds and has not flushed
};
constinit std::atomic<Owner> owner{Owner::kUs};
constinit std::atomic<std::int64_t> silent_since_ns{0};
// How often we have been asked to yield, and which of these requests the device thread has met. Its state alone may be
// that of an earlier one.
constinit std::atomic<std::uint32_t> yields_asked{0}, yields_met{0};
constinit std::atomic<Ticks> wanted_off_at{0};  // kNever while the recorder is armed
constinit std::atomic<Ticks> wanted_settled{0};
constinit std::atomic<std::uint64_t> budget{2ull << 30};  // set_budget()
constinit std::atomic<bool> yielded_too_late{false};
constinit std::atomic<TimestampCallback> foreign_clock{nullptr};
constinit std::atomic<bool> wanted_finish{false};
constinit std::atomic<bool> finish_abruptly{false};
constinit std::atomic<bool> trouble{false};
constinit std::atomic<std::int32_t> thread_id{0};
constinit IdPlaces places_of_starter;  // set before the device thread is made
constinit Bell wishes_changed;
constinit Bell state_changed;

constexpr Ticks kNever = ~Ticks{0};
constexpr std::int64_t kArmPatience_ns = 200'000'000;    // cudaProfilerStart waits so long at the most
constexpr std::int64_t kStartPatience_ns = 500'000'000;  // so does the first CUDA call, in all
constexpr std::int64_t kSilence_ns = 1'000'000'000;  // another client that is silent so long will not flush any more
constexpr std::int64_t kYieldPatience_ns = 5'000'000'000;
constexpr std::int64_t kFinishPatience_ns = 15'000'000'000;
constexpr std::int64_t kAbruptPatience_ns = 1'000'000'000;

/// CUPTI is on before a window comes, and a kernel may run long after the window with its launch: events are kept from
/// arm() on, until all device work that was launched before the window's end is there.
class WantedOutput final : public SpoolOutput {
 public:
  explicit WantedOutput(const Capture& capture) : capture_(capture) {}
  void put(const Event& event, const Event* continuation) override {
    const Ticks until = wanted_off_at.load(std::memory_order_relaxed);
    if (until == kNever || capture_.settled_until() < until) SpoolOutput::put(event, continuation);
  }

 private:
  const Capture& capture_;
};

constinit StepListener step_listener = {[](const char*, Ticks) {}, [] {}, [](bool, Ticks) {}};

void start_callbacks(LaunchCallbacks& callbacks) {
  const std::string why_not = callbacks.start();
  if (why_not.empty()) return;
  log::line(LogLevel::kWarn, "no steps are seen from the GPU: %s", why_not.c_str());
  recorder::problem("steps", "no steps were seen from the GPU: " + why_not);
}

/// Made once, never destroyed: CUPTI may call back until the process is gone.
struct Source {
  Source(FoundCupti found_cupti, const CaptureOptions& options, LaunchCallbacks::Wanted wanted)
      : found(std::move(found_cupti)),
        output(capture),
        capture(found.api, output, options),
        callbacks(found.api, step_listener, wanted) {}
  FoundCupti found;
  WantedOutput output;
  Capture capture;
  LaunchCallbacks callbacks;
  Said said;
  bool refusal_told = false;
  std::string late_begins;
  // As others see it: only after what is lost by then has been said, so that no trace is written without it.
  std::atomic<Capture::State> state{Capture::State::kOff};
  std::atomic<Ticks> settled_until{Capture::kEverything};

  void show() {
    settled_until.store(capture.settled_until(), std::memory_order_release);
    state.store(capture.state(), std::memory_order_release);
  }
};
constinit std::atomic<Source*> the_source{nullptr};

void wake_thread() { wishes_changed.ring(); }

Wishes wishes_now() {
  Wishes wishes;
  wishes.on = wanted_on.load(std::memory_order_acquire);
  wishes.off_at = wanted_off_at.load(std::memory_order_relaxed);
  wishes.settle_before = wanted_settled.load(std::memory_order_relaxed);
  // One that could not be met in time is met now: what the other client has registered is not ours.
  wishes.yield = owner.load(std::memory_order_acquire) != Owner::kUs ||
                 yields_asked.load(std::memory_order_acquire) != yields_met.load(std::memory_order_acquire);
  wishes.yielded_too_late = yielded_too_late.load(std::memory_order_acquire);
  wishes.foreign_clock = foreign_clock.load(std::memory_order_relaxed);
  wishes.finish = wanted_finish.load(std::memory_order_acquire);
  wishes.abrupt = finish_abruptly.load(std::memory_order_relaxed);
  return wishes;
}

// The window has its time all the same: other layers were recorded. On the thread that began it, since the window may
// be over and written before CUPTI is on.
void say_late_begin() {
  recorder::problem("cupti",
                    "CUPTI was switched on after a window had begun: the GPU activity before that is missing "
                    "(schedule.warmup switches it on earlier)");
}

// How late it was, by the thread that has switched it on.
void tell_late_begin(Source& source) {
  const bool on = source.capture.state() == Capture::State::kOn;
  if (!on && wanted_on.load(std::memory_order_acquire)) return;
  const std::int64_t since_ns = late_since_ns.exchange(0);
  if (since_ns == 0) return;
  // One number for each window that began so, in their order; null where the window was over before.
  constexpr std::size_t kMostText = 1000;
  if (source.late_begins.size() < kMostText) {
    source.late_begins += (source.late_begins.empty() ? "" : ", ") +
                          (on ? std::to_string((monotonic_ns() - since_ns) / 1000) : std::string("null"));
  }
  say_fact("gpu_recorded_after_us", "[" + source.late_begins + "]");
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

void serve(Source& source, std::int64_t& timeout_ns) {
  Capture& capture = source.capture;
  const bool was_on = capture.state() == Capture::State::kOn;
  // Before the wishes: a window that is seen here has asked for CUPTI already.
  const std::int64_t began_ns = window_began_ns.exchange(0, std::memory_order_acq_rel);
  const std::uint32_t yield = yields_asked.load(std::memory_order_acquire);
  const Capture::State before = capture.state();
  const bool refused_before = capture.refused();
  timeout_ns = capture.serve(wishes_now(), monotonic_ns());
  if (before == Capture::State::kYielded && capture.state() != before) yielded_too_late.store(false);
  if (capture.refused() && !source.refusal_told) {
    source.refusal_told = true;
    say_there_is_none(capture.refusal());
  }
  source.said.not_recorded(capture);
  if (capture.gave_up()[0] != 0) {
    log::line(LogLevel::kWarn, "%s", capture.gave_up());
    recorder::problem("cupti", capture.gave_up());
  }
  if (capture.take_trouble()) trouble.store(true, std::memory_order_relaxed);
  if (capture.state() == Capture::State::kOn) source.said.versions(capture);
  if (began_ns != 0 && !was_on) {
    say_late_begin();
    late_since_ns.store(began_ns);
  }
  if (capture.state() == Capture::State::kOn) {
    const std::int64_t open_ns = open_since_ns.exchange(0);
    const FirstCall seen = first_call.load();
    const bool may_miss = seen == FirstCall::kNotHeld || (seen == FirstCall::kNotSeen && a_context_exists());
    if (open_ns != 0 && may_miss) {
      say_late_begin();
      late_since_ns.store(open_ns);
    }
  }
  tell_late_begin(source);
  source.said.losses(capture);
  source.show();
  const bool yields = capture.state() == Capture::State::kYielded && yields_met.exchange(yield) != yield;
  if (yields && owner.load(std::memory_order_acquire) == Owner::kUs) wake_thread();  // it has gone already
  if (capture.state() != before || capture.refused() != refused_before || yields) state_changed.ring();
}

// The thread's answer to a wish, for as long as `patience` allows.
template <class Done>
bool wait_for(std::int64_t patience_ns, const Done& done) {
  const std::int64_t until = monotonic_ns() + patience_ns;
  for (;;) {
    const std::uint32_t seen = state_changed.now();
    if (done()) return true;
    const std::int64_t left = until - monotonic_ns();
    if (left <= 0) return false;
    state_changed.wait(seen, left);
  }
}

void say_other_client_recorded() {
  recorder::problem("cupti", "another client used CUPTI: while it did, no GPU activity was recorded");
}

void say_yielded(const char* call) {
  const bool armed = (recorder::mode() & recorder::kArmed) != 0;
  log::line(armed ? LogLevel::kWarn : LogLevel::kInfo,
            "another client uses CUPTI (%s): it has the GPU, ours stays away until it lets go", call);
  if (armed) say_other_client_recorded();  // else nothing is missing, unless a window begins meanwhile
  recorder::set_mode(recorder::kCudaCalls, 0);
}

// A 32nd of the budget in buffers of up to a megabyte, since each thread of the job may hold one; a 64th for the tables
// of what is under way.
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

Source* live() {
  return phase.load(std::memory_order_acquire) == Phase::kRunning ? the_source.load(std::memory_order_acquire)
                                                                  : nullptr;
}

// What was refused stays off.
bool is_on_or_never(const Source& source) {
  const Capture::State state = source.state.load(std::memory_order_acquire);
  return state == Capture::State::kOn || state == Capture::State::kFinished || source.capture.refused() ||
         (state == Capture::State::kYielded && owner.load(std::memory_order_relaxed) != Owner::kUs);
}
bool wait_until_on(const Source& source) {
  return wait_for(kArmPatience_ns, [&source] { return is_on_or_never(source); });
}

void taken_back(Source& source) {
  start_callbacks(source.callbacks);
  recorder::set_mode(0, recorder::kCudaCalls);
}

// Nanoseconds until CUPTI is ours again because its other client stays silent; -1 = that is not so.
std::int64_t take_back_after_silence(Source& source) {
  if (owner.load(std::memory_order_acquire) != Owner::kOtherIsSilent) return -1;
  const std::int64_t left = silent_since_ns.load(std::memory_order_relaxed) + kSilence_ns - monotonic_ns();
  if (left > 0) return left;
  Owner silent = Owner::kOtherIsSilent;
  if (owner.compare_exchange_strong(silent, Owner::kUs, std::memory_order_acq_rel)) {
    yielded_too_late.store(false, std::memory_order_release);
    taken_back(source);
  }
  return -1;
}

// Null: there is no CUPTI to serve, and the trace says why.
Source* bring_up(const Spec& spec) {
  // No call of CUPTI before this: it cannot initialize without a device, and some releases crash then.
  if (const std::string problem = wait_for_devices(); !problem.empty()) {
    say_there_is_none(problem);
    return nullptr;
  }
  if (wanted_finish.load(std::memory_order_acquire)) {
    if (open_since_ns.load() != 0) say_there_is_none("the process ended while CUPTI came up");
    return nullptr;
  }
  FoundCupti found = find_cupti();
  if (!found.problem.empty()) {
    say_there_is_none(found.problem);
    return nullptr;
  }
  CaptureOptions options = options_of(spec, budget.load());
  options.own_clock = !torch_is_mapped();
  auto* const source = new Source(std::move(found), options, wanted_callbacks(spec, runtime_is_mapped()));
  if (const std::string problem = source->capture.prepare(places_of_starter); !problem.empty()) {
    say_there_is_none(source->found.path + ": " + problem);
    return nullptr;
  }
  return source;
}

void serve_until_finished(Source& source) {
  while (source.capture.state() != Capture::State::kFinished) {
    const std::uint32_t seen = wishes_changed.now();
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
    wishes_changed.wait(seen, timeout_ns);
  }
  source.show();
}

void end_start(Phase next) {
  Phase expected = Phase::kStarting;
  phase.compare_exchange_strong(expected, next);
  state_changed.ring();
}

void* run(void* argument) {
  const Spec& spec = *static_cast<const Spec*>(argument);
  prctl(PR_SET_NAME, "profshim-gpu");
  thread_id.store(static_cast<std::int32_t>(syscall(SYS_gettid)));
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
  the_source.store(source, std::memory_order_release);
  call_when_completed(wake_thread);
  if (void (*const ready)() = on_ready.load()) ready();
  if (owner.load() == Owner::kUs) {
    start_callbacks(source->callbacks);
  } else {
    say_yielded("before us");
  }
  end_start(Phase::kRunning);
  if (live() == nullptr) return nullptr;  // the process ended meanwhile
  serve_until_finished(*source);
  state_changed.ring();
  return nullptr;
}

}  // namespace

void set_budget(std::uint64_t bytes) { budget.store(bytes); }

std::uint64_t host_bytes(const Spec& spec, std::uint64_t memory) {
  if (!spec.activities.cuda) return 0;
  const CaptureOptions options = options_of(spec, memory);
  return (options.buffers + BufferPool::kReserve) * options.buffer_bytes + options.table_bytes;
}

void listen(const StepListener& listener) { step_listener = listener; }

void start(const Spec& spec, void (*ready)()) {
  Phase idle = Phase::kIdle;
  if (!spec.activities.cuda || !phase.compare_exchange_strong(idle, Phase::kStarting)) return;
  on_ready.store(ready);
  external.store(spec.activities.nccl);
  boundaries_wait.store(spec.steps.source == StepSource::kCudaProfilerApi);
  if ((recorder::mode() & recorder::kArmed) != 0) {
    wanted_on.store(true);
    open_since_ns.store(monotonic_ns());
  }
  places_of_starter = id_places_of_this_thread();
  if (start_own_thread(run, const_cast<Spec*>(&spec))) return;
  phase.store(Phase::kOver);
  try {
    say_there_is_none("no thread could be started");
  } catch (...) {
    say_there_is_no_memory();
  }
}

void await_start() {
  const auto is_up = [] {
    const Source* const source = live();
    if (source == nullptr) return phase.load(std::memory_order_acquire) != Phase::kStarting;
    return !wanted_on.load(std::memory_order_acquire) || is_on_or_never(*source);
  };
  FirstCall expected = FirstCall::kNotSeen;
  first_call.compare_exchange_strong(expected, FirstCall::kHeld);
  if (is_up()) return;
  std::int64_t deadline = 0;
  const std::int64_t now_ns = monotonic_ns();
  if (start_deadline_ns.compare_exchange_strong(deadline, now_ns + kStartPatience_ns)) {
    deadline = now_ns + kStartPatience_ns;
  }
  if (deadline <= now_ns || !wait_for(deadline - now_ns, is_up)) first_call.store(FirstCall::kNotHeld);
}

bool available() { return live() != nullptr; }

void arm(Ticks window_begin) {
  wanted_off_at.store(kNever, std::memory_order_relaxed);
  if (!wanted_on.exchange(true, std::memory_order_acq_rel) && live() != nullptr) wishes_changed.ring();
  if (window_begin == 0) return;
  Source* const source = live();
  if (source == nullptr) {
    if (phase.load() == Phase::kStarting) open_since_ns.store(monotonic_ns());
    return;
  }
  if (owner.load(std::memory_order_acquire) != Owner::kUs) say_other_client_recorded();
  const std::int64_t now_ns = monotonic_ns();
  if (source->state.load(std::memory_order_acquire) == Capture::State::kOn) {
    window_began_ns.store(now_ns, std::memory_order_release);
    wishes_changed.ring();
    return;
  }
  if (boundaries_wait.load(std::memory_order_relaxed)) {
    const bool in_callback = LaunchCallbacks::on_this_thread();
    if (!(in_callback && callbacks_block.load(std::memory_order_relaxed)) && wait_until_on(*source)) return;
    if (in_callback) callbacks_block.store(true, std::memory_order_relaxed);
  }
  if (is_on_or_never(*source)) return;  // it never comes on, and the trace says why
  say_late_begin();
  late_since_ns.store(now_ns);
  wishes_changed.ring();
}

void disarm(Ticks at, bool stays_on) {
  if (wanted_off_at.load(std::memory_order_relaxed) == kNever) wanted_off_at.store(at, std::memory_order_relaxed);
  if (wanted_on.exchange(stays_on, std::memory_order_acq_rel) != stays_on && live() != nullptr) wishes_changed.ring();
}

bool settled(Ticks end) {
  Source* const source = live();
  if (source == nullptr || source->settled_until.load(std::memory_order_acquire) >= end) return true;
  if (source->state.load(std::memory_order_acquire) == Capture::State::kFinished) return true;
  Ticks wanted = wanted_settled.load(std::memory_order_relaxed);
  while (wanted < end && !wanted_settled.compare_exchange_weak(wanted, end)) {
  }
  if (wanted < end) wishes_changed.ring();
  return false;
}

bool take_trouble() { return trouble.exchange(false, std::memory_order_relaxed); }

std::int32_t own_thread() { return thread_id.load(std::memory_order_relaxed); }

void finish(bool abrupt) {
  disarm(ticks(), false);
  finish_abruptly.store(abrupt);
  wanted_finish.store(true, std::memory_order_release);
  const std::int64_t patience = abrupt ? kAbruptPatience_ns : kFinishPatience_ns;
  // A thread inside CUPTI's first call must not meet the end of the process.
  wait_for(patience, [] { return phase.load(std::memory_order_acquire) != Phase::kStarting; });
  end_start(Phase::kOver);
  Source* const source = live();
  if (source == nullptr) return;
  if (!abrupt) source->callbacks.stop();
  wishes_changed.ring();
  const bool done = wait_for(patience, [source] { return source->state.load() == Capture::State::kFinished; });
  phase.store(Phase::kOver);
  if (!done) recorder::problem("cupti", "the last device work was not delivered before the process ended");
}

void abandon_in_child() {
  phase.store(Phase::kOver, std::memory_order_relaxed);
  thread_id.store(0, std::memory_order_relaxed);
  call_when_completed(nullptr);
}

void push_operation(std::uint32_t operation) {
  Source* const source = live();
  if (source == nullptr || !external.load(std::memory_order_relaxed)) return;
  if (source->capture.state() != Capture::State::kOn) return;
  source->capture.scope().push_external(cupti::kOurExternalKind, operation);
}

void pop_operation() {
  Source* const source = live();
  if (source == nullptr || !external.load(std::memory_order_relaxed)) return;
  // Also when it has been switched off in between: what was pushed must go. An empty stack answers with an error.
  if (source->capture.state() == Capture::State::kYielded) return;
  source->capture.scope().pop_external(cupti::kOurExternalKind);
}

bool yield_to_other_client(const char* call) {
  if (owner.exchange(Owner::kOther, std::memory_order_acq_rel) != Owner::kUs) return false;
  Source* const source = live();
  if (source == nullptr) return false;
  const std::uint32_t asked = yields_asked.fetch_add(1, std::memory_order_acq_rel) + 1;
  source->callbacks.stop();  // on this thread: the call may want the place
  say_yielded(call);
  wishes_changed.ring();
  const bool done = wait_for(kYieldPatience_ns, [source, asked] {
    return yields_met.load(std::memory_order_acquire) == asked ||
           source->state.load(std::memory_order_acquire) == Capture::State::kFinished;
  });
  // From here on what is on may be the other client's wish.
  if (!done) yielded_too_late.store(true, std::memory_order_release);
  return true;
}

void other_client_is_silent() {
  silent_since_ns.store(monotonic_ns(), std::memory_order_relaxed);
  Owner other = Owner::kOther;
  if (owner.compare_exchange_strong(other, Owner::kOtherIsSilent, std::memory_order_acq_rel)) wishes_changed.ring();
}

void other_client_has_clock(std::uint64_t (*clock)()) { foreign_clock.store(clock); }

void other_client_has_buffers(void* completed) {
  forward_foreign_buffers(reinterpret_cast<BufferCompleted>(completed));
}

void resume() {
  if (owner.exchange(Owner::kUs, std::memory_order_acq_rel) == Owner::kUs) return;
  yielded_too_late.store(false, std::memory_order_release);
  Source* const source = live();
  if (source == nullptr) return;
  taken_back(*source);
  wishes_changed.ring();
}

void give_up_callbacks(const char* call) {
  Source* const source = live();
  if (source == nullptr || !source->callbacks.stop()) return;
  log::line(LogLevel::kWarn, "another client has CUPTI's callbacks (%s): no steps are seen from the GPU", call);
  recorder::problem("steps",
                    "another client of CUPTI had its callbacks: while it did, no steps were seen from the GPU");
}

void take_callbacks() {
  if (Source* const source = live(); source != nullptr && owner.load() == Owner::kUs)
    start_callbacks(source->callbacks);
}

bool owns_cupti() { return live() != nullptr && owner.load(std::memory_order_acquire) == Owner::kUs; }

bool has_subscriber_place() {
  const Source* const source = live();
  return source != nullptr && source->found.api.has_subscriber_api();
}

bool subscribers_share() {
  const Source* const source = live();
  return source != nullptr && source->found.api.subscribers_share;
}

}  // namespace profshim::device
