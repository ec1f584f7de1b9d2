#include "other_clients.h"

#include "profshim/device.h"
#include "profshim/recorder_control.h"

namespace profshim::device {
namespace {

constexpr std::int64_t kSilence_ns = 1'000'000'000;  // a client that is silent for longer will not flush
constexpr std::int64_t kYieldTimeout_ns = 5'000'000'000;

void on_taken_back(CuptiClient& client) {
  start_callbacks(client);
  recorder::set_mode(0, recorder::kCudaCalls);
}

}  // namespace

void report_other_client() {
  recorder::count_loss(Loss::device_lost);
  recorder::problem("cupti", "no GPU activity was recorded while another client used CUPTI");
}

void report_yield(const char* call) {
  const bool armed = (recorder::mode() & recorder::kArmed) != 0;
  log::line(armed ? LogLevel::kWarn : LogLevel::kInfo,
            "another client uses CUPTI (%s): no GPU activity is recorded until that client stops", call);
  if (armed) report_other_client();  // else arm() reports the client
  recorder::set_mode(recorder::kCudaCalls, 0);
}

std::int64_t take_back_after_silence(CuptiClient& client) {
  if (shared.request.owner.load(std::memory_order_acquire) != Owner::kOtherIsSilent) return -1;
  const std::int64_t left = shared.silent_since_ns.load(std::memory_order_relaxed) + kSilence_ns - monotonic_ns();
  if (left > 0) return left;
  Owner silent = Owner::kOtherIsSilent;
  if (shared.request.owner.compare_exchange_strong(silent, Owner::kUs, std::memory_order_acq_rel)) {
    shared.request.yielded_too_late.store(false, std::memory_order_release);
    on_taken_back(client);
  }
  return -1;
}

bool yield_to_other_client(const char* call) {
  if (shared.request.owner.exchange(Owner::kOther, std::memory_order_acq_rel) != Owner::kUs) return false;
  CuptiClient* const client = running_client();
  if (client == nullptr) return false;
  const std::uint32_t number = shared.request.yields_requested.fetch_add(1, std::memory_order_acq_rel) + 1;
  client->callbacks.stop();  // on this thread: the other client may subscribe next
  report_yield(call);
  shared.request_changed.notify_all();
  const bool done = wait_for(kYieldTimeout_ns, [client, number] {
    return shared.request.yields_done.load(std::memory_order_acquire) == number ||
           client->state.load(std::memory_order_acquire) == Capture::State::kFinished;
  });
  // From here on, enabled activity kinds may be the other client's.
  if (!done) shared.request.yielded_too_late.store(true, std::memory_order_release);
  return true;
}

void on_other_client_silent() {
  shared.silent_since_ns.store(monotonic_ns(), std::memory_order_relaxed);
  Owner other = Owner::kOther;
  if (shared.request.owner.compare_exchange_strong(other, Owner::kOtherIsSilent, std::memory_order_acq_rel))
    shared.request_changed.notify_all();
}

void on_other_client_clock(std::uint64_t (*clock)()) { shared.request.foreign_clock.store(clock); }

void on_other_client_buffers(void* completed) { forward_foreign_buffers(reinterpret_cast<BufferCompleted>(completed)); }

void resume() {
  if (shared.request.owner.exchange(Owner::kUs, std::memory_order_acq_rel) == Owner::kUs) return;
  shared.request.yielded_too_late.store(false, std::memory_order_release);
  CuptiClient* const client = running_client();
  if (client == nullptr) return;
  on_taken_back(*client);
  shared.request_changed.notify_all();
}

void release_callbacks(const char* call) {
  CuptiClient* const client = running_client();
  if (client == nullptr || !client->callbacks.stop()) return;
  log::line(LogLevel::kWarn,
            "another client took CUPTI's callbacks (%s): CUDA calls make no steps until that client "
            "unsubscribes",
            call);
  recorder::problem("steps", "CUDA calls made no steps while another client used CUPTI's callbacks");
}

void take_callbacks() {
  if (CuptiClient* const client = running_client(); client != nullptr && shared.request.owner.load() == Owner::kUs)
    start_callbacks(*client);
}

bool owns_cupti() {
  return running_client() != nullptr && shared.request.owner.load(std::memory_order_acquire) == Owner::kUs;
}

bool has_subscriber_api() {
  const CuptiClient* const client = running_client();
  return client != nullptr && client->found.api.has_subscriber_api();
}

bool subscribers_share() {
  const CuptiClient* const client = running_client();
  return client != nullptr && client->found.api.subscribers_share;
}

}  // namespace profshim::device
