#include "other_clients.h"

#include "profshim/device.h"
#include "profshim/recorder_control.h"

namespace profshim::device {
namespace {

constexpr std::int64_t kSilence_ns = 1'000'000'000;  // a client that is silent so long will not flush any more
constexpr std::int64_t kYieldPatience_ns = 5'000'000'000;

void taken_back(Source& source) {
  start_callbacks(source);
  recorder::set_mode(0, recorder::kCudaCalls);
}

}  // namespace

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

std::int64_t take_back_after_silence(Source& source) {
  if (shared.owner.load(std::memory_order_acquire) != Owner::kOtherIsSilent) return -1;
  const std::int64_t left = shared.silent_since_ns.load(std::memory_order_relaxed) + kSilence_ns - monotonic_ns();
  if (left > 0) return left;
  Owner silent = Owner::kOtherIsSilent;
  if (shared.owner.compare_exchange_strong(silent, Owner::kUs, std::memory_order_acq_rel)) {
    shared.yielded_too_late.store(false, std::memory_order_release);
    taken_back(source);
  }
  return -1;
}

bool yield_to_other_client(const char* call) {
  if (shared.owner.exchange(Owner::kOther, std::memory_order_acq_rel) != Owner::kUs) return false;
  Source* const source = live();
  if (source == nullptr) return false;
  const std::uint32_t asked = shared.yields_asked.fetch_add(1, std::memory_order_acq_rel) + 1;
  source->callbacks.stop();  // on this thread: the call may want the place
  say_yielded(call);
  shared.wishes_changed.ring();
  const bool done = wait_for(kYieldPatience_ns, [source, asked] {
    return shared.yields_met.load(std::memory_order_acquire) == asked ||
           source->state.load(std::memory_order_acquire) == Capture::State::kFinished;
  });
  // Kinds that are on from here may be the other client's.
  if (!done) shared.yielded_too_late.store(true, std::memory_order_release);
  return true;
}

void other_client_is_silent() {
  shared.silent_since_ns.store(monotonic_ns(), std::memory_order_relaxed);
  Owner other = Owner::kOther;
  if (shared.owner.compare_exchange_strong(other, Owner::kOtherIsSilent, std::memory_order_acq_rel))
    shared.wishes_changed.ring();
}

void other_client_has_clock(std::uint64_t (*clock)()) { shared.foreign_clock.store(clock); }

void other_client_has_buffers(void* completed) {
  forward_foreign_buffers(reinterpret_cast<BufferCompleted>(completed));
}

void resume() {
  if (shared.owner.exchange(Owner::kUs, std::memory_order_acq_rel) == Owner::kUs) return;
  shared.yielded_too_late.store(false, std::memory_order_release);
  Source* const source = live();
  if (source == nullptr) return;
  taken_back(*source);
  shared.wishes_changed.ring();
}

void give_up_callbacks(const char* call) {
  Source* const source = live();
  if (source == nullptr || !source->callbacks.stop()) return;
  log::line(LogLevel::kWarn, "another client has CUPTI's callbacks (%s): no steps are seen from the GPU", call);
  recorder::problem("steps",
                    "another client of CUPTI had its callbacks: while it did, no steps were seen from the GPU");
}

void take_callbacks() {
  if (Source* const source = live(); source != nullptr && shared.owner.load() == Owner::kUs) start_callbacks(*source);
}

bool owns_cupti() { return live() != nullptr && shared.owner.load(std::memory_order_acquire) == Owner::kUs; }

bool has_subscriber_place() {
  const Source* const source = live();
  return source != nullptr && source->found.api.has_subscriber_api();
}

bool subscribers_share() {
  const Source* const source = live();
  return source != nullptr && source->found.api.subscribers_share;
}

}  // namespace profshim::device
