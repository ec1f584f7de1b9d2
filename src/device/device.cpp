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

namespace profshim::device {
namespace {

// ---- what the threads tell each other; none of it is behind a lock

constinit std::atomic<bool> started{false};             // start() has been here
constinit std::atomic<const Spec*> postponed{nullptr};  // start() found another client there
constinit std::atomic<bool> running{false};             // there is a CUPTI, and a thread of ours that serves it
constinit std::atomic<bool> external{false};            // operations are pushed
constinit std::atomic<bool> wanted_on{false};
constinit std::atomic<std::int64_t> late_since_ns{0};  // a window has begun then, and its thread could not wait
// CUPTI was not switched on while a thread waited for that in a callback: it seems to wait for the callback. Tried
// once.
constinit std::atomic<bool> callbacks_block{false};
constinit std::atomic<Ticks> wanted_off_at{0};
constinit std::atomic<Ticks> wanted_settled{0};
constinit std::atomic<bool> wanted_yield{false};
constinit std::atomic<std::uint64_t> budget{2ull << 30};  // set_budget()
constinit std::atomic<bool> yielded_too_late{false};
constinit std::atomic<bool> clock_replaced{false};
constinit std::atomic<bool> wanted_finish{false};
constinit std::atomic<bool> finish_abruptly{false};
constinit std::atomic<bool> trouble{false};
constinit std::atomic<std::int32_t> thread_id{0};
constinit Bell wishes_changed;
constinit Bell state_changed;

constexpr std::int64_t kArmPatience_ns = 200'000'000;  // a boundary waits so long at the most
constexpr std::int64_t kYieldPatience_ns = 5'000'000'000;
constexpr std::int64_t kFinishPatience_ns = 15'000'000'000;
constexpr std::int64_t kAbruptPatience_ns = 1'000'000'000;

/// Events go into the device lane of the spool.
class Lane final : public EventOutput {
 public:
  void put(const Event& event, const Event* continuation) override {
    if (lane_ == nullptr) lane_ = recorder::device_lane();
    if (lane_ == nullptr) return;  // counted by the recorder
    Event* const slot = recorder::next_slot(*lane_);
    if (slot == nullptr) return;
    *slot = event;
    recorder::publish(*lane_);
    if (continuation != nullptr) recorder::commit(*lane_, *continuation);
  }
  StringId text(const char* text) override { return recorder::intern_literal(text); }
  void define(spool::DefinitionKind kind, std::uint32_t id, const std::string& name, const std::string& text,
              std::initializer_list<std::int64_t> values) override {
    recorder::define(kind, id, recorder::intern(name), recorder::intern(text, spool::kMaxText), values);
  }

 private:
  spool::Thread* lane_ = nullptr;
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
      : found(std::move(found_cupti)), capture(found.api, lane, options), callbacks(found.api, step_listener, wanted) {}
  FoundCupti found;
  Lane lane;
  Capture capture;
  LaunchCallbacks callbacks;
  Losses told;
  BufferPool::Counts counts_told;
  bool versions_told = false, refusal_told = false;
  std::string not_recorded_told;
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

void fact(std::string_view key, const std::string& json) {
  recorder::define(spool::DefinitionKind::kFact, 0, recorder::intern(key), recorder::intern(json, spool::kMaxText));
}

Wishes wishes_now() {
  Wishes wishes;
  wishes.on = wanted_on.load(std::memory_order_acquire);
  wishes.off_at = wanted_off_at.load(std::memory_order_relaxed);
  wishes.settle_before = wanted_settled.load(std::memory_order_relaxed);
  wishes.yield = wanted_yield.load(std::memory_order_acquire);
  wishes.yielded_too_late = yielded_too_late.load(std::memory_order_acquire);
  wishes.clock_replaced = clock_replaced.load(std::memory_order_relaxed);
  wishes.finish = wanted_finish.load(std::memory_order_acquire);
  wishes.abrupt = finish_abruptly.load(std::memory_order_relaxed);
  return wishes;
}

void tell_versions(Source& source) {
  if (source.versions_told) return;
  source.versions_told = true;
  fact("cupti_version", std::to_string(source.capture.version()));
  if (const int version = driver_version(); version > 0) fact("cuda_driver_version", std::to_string(version));
  if (const int version = runtime_version(); version > 0) fact("cuda_runtime_version", std::to_string(version));
  fact("device_timing", std::string("{\"method\": \"cupti\", \"clock\": \"") +
                            (source.capture.converter().clock().direct() ? "ours" : "realtime, converted") + "\"}");
}

// What is not in the trace, by reason; the newest fact counts.
void tell_losses(Source& source) {
  const Losses now = source.capture.converter().losses();
  const BufferPool::Counts counts = source.capture.pool().counts();
  const bool told = now == source.told && counts.refused == source.counts_told.refused &&
                    counts.reserved == source.counts_told.reserved &&
                    counts.overwritten == source.counts_told.overwritten &&
                    counts.unread == source.counts_told.unread && counts.foreign == source.counts_told.foreign;
  if (told) return;
  if (now.flushes > 0 && source.told.flushes == 0) {
    log::line(LogLevel::kWarn, "CUPTI does not hand over what it has recorded: GPU activity is missing");
    recorder::problem("cupti", "CUPTI did not hand over what it had recorded: GPU activity is missing");
  }
  source.told = now;
  source.counts_told = counts;
  char json[512];
  std::snprintf(json, sizeof json,
                "{\"dropped_by_cupti\": %llu, \"no_time\": %llu, \"end_before_begin\": %llu, \"outside\": %llu, "
                "\"launches_without_work\": %llu, \"refused_flushes\": %llu, \"unknown_records\": %llu, "
                "\"truncated_buffers\": %llu, "
                "\"buffers_refused\": %llu, \"buffers_from_reserve\": %llu, \"buffers_overwritten\": %llu, "
                "\"buffers_unread\": %llu, \"foreign_buffers\": %llu}",
                static_cast<unsigned long long>(now.by_cupti), static_cast<unsigned long long>(now.no_time),
                static_cast<unsigned long long>(now.backwards), static_cast<unsigned long long>(now.outside),
                static_cast<unsigned long long>(now.launches), static_cast<unsigned long long>(now.flushes),
                static_cast<unsigned long long>(now.unknown_kinds), static_cast<unsigned long long>(now.truncated),
                static_cast<unsigned long long>(counts.refused), static_cast<unsigned long long>(counts.reserved),
                static_cast<unsigned long long>(counts.overwritten), static_cast<unsigned long long>(counts.unread),
                static_cast<unsigned long long>(counts.foreign));
  fact("gpu_losses", json);
  if (now.by_cupti > 0) recorder::problem("cupti", "CUPTI dropped records: device work and CUDA calls are missing");
  if (now.impossible_times() > 0) recorder::problem("cupti", "records with impossible times were left out");
  if (now.launches > 0) recorder::problem("cupti", "the device work of some launches was never delivered");
  if (now.truncated > 0) recorder::problem("cupti", "buffers of CUPTI ended inside a record: what followed is missing");
  if (counts.overwritten > 0) {
    recorder::problem("cupti", "CUPTI filled its buffers faster than they were read: some records are missing");
  }
  if (counts.unread > 0) {
    recorder::problem("cupti",
                      "CUPTI wanted more buffers at a time than the recording has memory for: records are missing");
  }
  if (counts.foreign > 0) recorder::problem("cupti", "buffers came back that are another client's");
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
  fact("gpu_recorded_after_us", "[" + source.late_begins + "]");
}

void say_there_is_none(const std::string& why) {
  log::line(LogLevel::kWarn, "no GPU activity is recorded: %s", why.c_str());
  recorder::problem("cupti", "no GPU activity is recorded: " + why);
  recorder::set_mode(recorder::kCudaCalls, 0);
}

void serve(Source& source, std::int64_t& timeout_ns) {
  Capture& capture = source.capture;
  const Capture::State before = capture.state();
  const bool refused_before = capture.refused();
  timeout_ns = capture.serve(wishes_now(), monotonic_ns());
  if (before == Capture::State::kYielded && capture.state() != before) {
    clock_replaced.store(false);
    yielded_too_late.store(false);
  }
  if (capture.refused() && !source.refusal_told) {
    source.refusal_told = true;
    say_there_is_none(capture.refusal());
  }
  if (capture.not_recorded() != source.not_recorded_told) {
    source.not_recorded_told = capture.not_recorded();
    if (!source.not_recorded_told.empty()) {
      recorder::problem("cupti", "CUPTI refused to record: " + source.not_recorded_told);
    }
  }
  if (capture.gave_up()[0] != 0) {
    log::line(LogLevel::kWarn, "%s", capture.gave_up());
    recorder::problem("cupti", capture.gave_up());
  }
  if (capture.take_trouble()) trouble.store(true, std::memory_order_relaxed);
  if (capture.state() != Capture::State::kYielded) tell_versions(source);
  tell_late_begin(source);
  tell_losses(source);
  source.show();
  if (capture.state() != before || capture.refused() != refused_before) state_changed.ring();
}

void* run(void* argument) {
  Source& source = *static_cast<Source*>(argument);
  prctl(PR_SET_NAME, "profshim-gpu");
  thread_id.store(static_cast<std::int32_t>(syscall(SYS_gettid)));
  source.capture.converter().threads().learn_from_this_thread();
  while (source.capture.state() != Capture::State::kFinished) {
    const std::uint32_t seen = wishes_changed.now();
    std::int64_t timeout_ns = -1;
    try {
      serve(source, timeout_ns);
    } catch (...) {  // no memory to say something: what it is about goes on
    }
    if (source.capture.state() == Capture::State::kFinished) break;
    // In the time that nobody wants anything else; one at least, however busy CUPTI is.
    if (source.capture.make_one_buffer()) continue;
    wishes_changed.wait(seen, timeout_ns);
  }
  source.show();
  state_changed.ring();
  return nullptr;
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

void say_yielded(const char* call) {
  log::line(LogLevel::kWarn, "another client uses CUPTI (%s): it has the GPU, ours stays away until it lets go", call);
  recorder::problem("cupti", "another client used CUPTI: while it did, no GPU activity was recorded");
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
  return running.load(std::memory_order_acquire) ? the_source.load(std::memory_order_acquire) : nullptr;
}

// What was refused stays off.
bool wait_until_on(const Source& source) {
  return wait_for(kArmPatience_ns, [&source] {
    const Capture::State state = source.state.load(std::memory_order_acquire);
    return state == Capture::State::kOn || state == Capture::State::kFinished || source.capture.refused() ||
           (state == Capture::State::kYielded && wanted_yield.load(std::memory_order_relaxed));
  });
}

void start_now(const Spec& spec) {
  if (!spec.activities.cuda || started.exchange(true)) return;
  if (wanted_yield.load(std::memory_order_acquire)) {
    // Our callbacks would take the place of its own.
    postponed.store(&spec);
    started.store(false);
    say_yielded("before us");
    return;
  }
  FoundCupti found = find_cupti();
  if (!found.problem.empty()) return say_there_is_none(found.problem);
  auto* const source =
      new Source(std::move(found), options_of(spec, budget.load()), wanted_callbacks(spec, runtime_is_mapped()));
  if (std::string problem = source->capture.prepare(); !problem.empty()) {
    return say_there_is_none(source->found.path + ": " + problem);
  }
  the_source.store(source, std::memory_order_release);
  external.store(spec.activities.nccl);
  wanted_on.store((recorder::mode() & recorder::kArmed) != 0);
  call_when_completed(wake_thread);
  // Here, on the thread inside cuInit: another one would wait for the lock that this one holds.
  source->capture.serve(wishes_now(), monotonic_ns());
  source->show();
  if (source->capture.gave_up()[0] != 0) return say_there_is_none(source->capture.gave_up());
  if (source->capture.refused()) {
    source->refusal_told = true;
    say_there_is_none(source->capture.refusal());
  }
  if (!start_own_thread(run, source)) {
    wanted_on.store(false);
    call_when_completed(nullptr);
    Wishes stop;
    stop.finish = stop.abrupt = true;
    source->capture.serve(stop, monotonic_ns());
    return say_there_is_none("no thread could be started");
  }
  running.store(true, std::memory_order_release);
  if (!wanted_yield.load()) start_callbacks(source->callbacks);
}

}  // namespace

void set_budget(std::uint64_t bytes) { budget.store(bytes); }

std::uint64_t host_bytes(const Spec& spec, std::uint64_t memory) {
  if (!spec.activities.cuda) return 0;
  const CaptureOptions options = options_of(spec, memory);
  return (options.buffers + BufferPool::kReserve) * options.buffer_bytes + options.table_bytes;
}

void listen(const StepListener& listener) { step_listener = listener; }

// The thread inside cuInit runs this: no exception may reach it.
void start(const Spec& spec) {
  try {
    start_now(spec);
  } catch (...) {
    log::line(LogLevel::kWarn, "no GPU activity is recorded: there is no memory for it");
    recorder::problem("cupti", "no GPU activity is recorded: there is no memory for it");
    recorder::set_mode(recorder::kCudaCalls, 0);
  }
}

bool available() { return live() != nullptr; }

void arm(Ticks window_begin) {
  const bool asked = wanted_on.exchange(true, std::memory_order_acq_rel);
  Source* const source = live();
  if (source == nullptr) return;
  if (!asked) wishes_changed.ring();
  const bool waits = window_begin != 0 && source->state.load(std::memory_order_acquire) != Capture::State::kOn;
  if (!waits) return;
  const bool in_callback = LaunchCallbacks::on_this_thread();
  const std::int64_t now_ns = monotonic_ns();
  if (!(in_callback && callbacks_block.load(std::memory_order_relaxed)) && wait_until_on(*source)) return;
  if (in_callback) callbacks_block.store(true, std::memory_order_relaxed);
  say_late_begin();
  late_since_ns.store(now_ns);
  wishes_changed.ring();
}

void disarm(Ticks at) {
  if (!wanted_on.load(std::memory_order_acquire)) return;
  wanted_off_at.store(at, std::memory_order_relaxed);
  wanted_on.store(false, std::memory_order_release);
  if (live() != nullptr) wishes_changed.ring();
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
  Source* const source = live();
  if (source == nullptr) return;
  disarm(ticks());
  if (!abrupt) source->callbacks.stop();
  finish_abruptly.store(abrupt);
  wanted_finish.store(true, std::memory_order_release);
  wishes_changed.ring();
  const bool done = wait_for(abrupt ? kAbruptPatience_ns : kFinishPatience_ns,
                             [source] { return source->state.load() == Capture::State::kFinished; });
  running.store(false);
  if (!done) recorder::problem("cupti", "the last device work was not delivered before the process ended");
}

void abandon_in_child() {
  running.store(false, std::memory_order_relaxed);
  started.store(true, std::memory_order_relaxed);
  thread_id.store(0, std::memory_order_relaxed);
  call_when_completed(nullptr);
}

void push_operation(std::uint32_t operation) {
  Source* const source = live();
  if (source == nullptr || !external.load(std::memory_order_relaxed)) return;
  if (source->capture.state() != Capture::State::kOn || source->found.api.push_external == nullptr) return;
  source->found.api.push_external(cupti::kOurExternalKind, operation);
}

void pop_operation() {
  Source* const source = live();
  if (source == nullptr || !external.load(std::memory_order_relaxed)) return;
  // Also when it has been switched off in between: what was pushed must go. An empty stack answers with an error.
  if (source->capture.state() == Capture::State::kYielded || source->found.api.pop_external == nullptr) return;
  std::uint64_t last = 0;
  source->found.api.pop_external(cupti::kOurExternalKind, &last);
}

bool yield_to_other_client(const char* call) {
  if (std::strcmp(call, "cuptiActivityRegisterTimestampCallback") == 0 || std::strcmp(call, "cuptiFinalize") == 0) {
    clock_replaced.store(true);
  }
  if (wanted_yield.exchange(true, std::memory_order_acq_rel)) return false;
  Source* const source = live();
  if (source == nullptr) return false;
  source->callbacks.stop();  // on this thread: what it calls next may want the seat
  say_yielded(call);
  wishes_changed.ring();
  const bool done = wait_for(kYieldPatience_ns, [source] {
    const Capture::State state = source->state.load(std::memory_order_acquire);
    return state == Capture::State::kYielded || state == Capture::State::kFinished;
  });
  // From here on what is on may be the other client's wish.
  if (!done) yielded_too_late.store(true, std::memory_order_release);
  return true;
}

void other_client_has_clock() { clock_replaced.store(true); }

void resume() {
  if (!wanted_yield.exchange(false, std::memory_order_acq_rel)) return;
  if (const Spec* const spec = postponed.exchange(nullptr)) start(*spec);
  Source* const source = live();
  if (source == nullptr) return;
  start_callbacks(source->callbacks);
  wishes_changed.ring();
  if (wanted_on.load(std::memory_order_acquire)) wait_until_on(*source);
  recorder::set_mode(0, recorder::kCudaCalls);
}

bool needs_symbol_hooks() { return live() == nullptr || wanted_yield.load(std::memory_order_relaxed); }

}  // namespace profshim::device
