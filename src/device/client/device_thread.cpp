#include "device_thread.h"

#include <pthread.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

#include "cupti_client.h"
#include "device/cupti/mapped_libraries.h"
#include "other_clients.h"
#include "profshim/base/threads/signal_guard.h"
#include "profshim/recorder_control.h"

namespace profshim::device {
namespace {

constinit StepListener step_listener = {[](const char*, Ticks) {}, [] {}, [](bool, Ticks) {}};

void serve(CuptiClient& client, std::int64_t& timeout_ns) {
  Capture& capture = client.capture;
  const bool was_on = capture.state() == Capture::State::kOn;
  // Read window_began_ns before the request: a window seen here has requested CUPTI already.
  const std::int64_t began_ns = shared.begins.window_began_ns.exchange(0, std::memory_order_acq_rel);
  const std::uint32_t yield_number = shared.request.yields_requested.load(std::memory_order_acquire);
  const Capture::State before = capture.state();
  const bool refused_before = capture.refused();
  timeout_ns = capture.serve(shared.request.load(), monotonic_ns());
  if (before == Capture::State::kYielded && capture.state() != before) shared.request.yielded_too_late.store(false);
  if (capture.refused() && !client.refusal_reported) {
    client.refusal_reported = true;
    report_no_activity(capture.refusal());
  }
  client.report.write_not_recorded(capture);
  if (capture.failure()[0] != 0) {
    log::line(LogLevel::kWarn, "%s", capture.failure());
    recorder::missing("cupti", capture.failure());
  }
  if (capture.take_overflow()) shared.overflow.store(true, std::memory_order_relaxed);
  if (capture.state() == Capture::State::kOn) client.report.write_versions(capture);
  note_late_begins(client, was_on, began_ns);
  client.report.write_losses(capture);
  client.show();
  const bool yields =
      capture.state() == Capture::State::kYielded && shared.request.yields_done.exchange(yield_number) != yield_number;
  if (yields && shared.request.owner.load(std::memory_order_acquire) == Owner::kUs)
    wake_device_thread();  // the other client has left already: serve again
  if (capture.state() != before || capture.refused() != refused_before || yields) shared.state_changed.notify_all();
}

CuptiClient* bring_up(const Spec& spec) {
  // Without a device CUPTI cannot initialize, and some releases crash.
  if (const std::string problem = wait_for_devices(); !problem.empty()) {
    report_no_activity(problem);
    return nullptr;
  }
  if (shared.request.finish.load(std::memory_order_acquire)) {
    if (shared.begins.open_since_ns.load() != 0) report_no_activity("the process ended before CUPTI was ready");
    return nullptr;
  }
  FoundCupti found = find_cupti();
  if (!found.problem.empty()) {
    report_no_activity(found.problem);
    return nullptr;
  }
  CaptureOptions options = options_of(spec, shared.memory_budget.load());
  options.own_clock = !torch_is_mapped();
  auto* const client =
      new CuptiClient(std::move(found), options, step_listener, wanted_callbacks(spec, runtime_is_mapped()));
  if (const std::string problem = client->capture.prepare(shared.places_of_starter); !problem.empty()) {
    report_no_activity(client->found.path + ": " + problem);
    return nullptr;
  }
  return client;
}

void serve_until_finished(CuptiClient& client) {
  while (client.capture.state() != Capture::State::kFinished) {
    const std::uint32_t seen = shared.request_changed.count();
    std::int64_t timeout_ns = -1;
    try {
      const std::int64_t silence_ns = take_back_after_silence(client);
      serve(client, timeout_ns);
      if (silence_ns >= 0) timeout_ns = timeout_ns < 0 ? silence_ns : std::min(timeout_ns, silence_ns);
    } catch (...) {  // no memory for a report
    }
    if (client.capture.state() == Capture::State::kFinished) break;
    // Make one buffer per round, so that requests are served in between.
    if (client.capture.make_one_buffer()) continue;
    shared.request_changed.wait(seen, timeout_ns);
  }
  client.show();
}

}  // namespace

// Buffers have at most 1 MiB, since each job thread may hold one.
CaptureOptions options_of(const Spec& spec, std::uint64_t memory) {
  CaptureOptions options;
  memory = std::max(memory, recorder::kLeastRoom);
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

void report_no_memory() {
  log::line(LogLevel::kWarn, "no GPU activity is recorded: host memory could not be allocated");
  recorder::missing("cupti", "no GPU activity is recorded: host memory could not be allocated");
  recorder::set_mode(recorder::kCudaCalls, 0);
}

void report_no_activity(const std::string& why) {
  log::line(LogLevel::kWarn, "no GPU activity is recorded: %s", why.c_str());
  recorder::missing("cupti", "no GPU activity is recorded: " + why);
  recorder::set_mode(recorder::kCudaCalls, 0);
}

void end_start(Phase next) {
  Phase expected = Phase::kStarting;
  shared.phase.compare_exchange_strong(expected, next);
  shared.state_changed.notify_all();
}

void listen(const StepListener& listener) { step_listener = listener; }

namespace {

void* run_device_thread(void* argument) {
  const Spec& spec = *static_cast<const Spec*>(argument);
  prctl(PR_SET_NAME, "profshim-gpu");
  shared.thread_id.store(static_cast<std::int32_t>(syscall(SYS_gettid)));
  CuptiClient* client = nullptr;
  try {
    client = bring_up(spec);
  } catch (...) {
    report_no_memory();
  }
  if (client == nullptr) {
    end_start(Phase::kOver);
    return nullptr;
  }
  shared.client.store(client, std::memory_order_release);
  call_when_completed(wake_device_thread);
  if (void (*const ready)() = shared.on_ready.load()) ready();
  if (shared.request.owner.load() == Owner::kUs) {
    start_callbacks(*client);
  } else {
    report_yield("since before profshim started");
  }
  end_start(Phase::kRunning);
  if (running_client() == nullptr) return nullptr;
  serve_until_finished(*client);
  shared.state_changed.notify_all();
  return nullptr;
}

}  // namespace

bool start_device_thread(const Spec& spec) {
  pthread_t thread;
  if (start_thread(thread, run_device_thread, const_cast<Spec*>(&spec)) != 0) return false;
  pthread_detach(thread);
  return true;
}

}  // namespace profshim::device
