#include "fakes/cupti/client.h"

#include <algorithm>
#include <iterator>
#include <thread>
#include <tuple>
#include <utility>

namespace fake::cupti {

std::atomic<std::uint64_t> first_enable{0};

int Client::register_callbacks(RequestBuffer request, CompleteBuffer complete) {
  if (!request || !complete) return kInvalidParameter;
  if (taken_) return kOk;
  request_ = request;
  complete_ = complete;
  return kOk;
}

void Client::taken(RequestOfSubscriber request, CompleteOfSubscriber complete) {
  if (request != nullptr) register_callbacks_v2(request, complete);
  if (request == nullptr && taken_) request_ = nullptr, complete_ = nullptr;
  taken_ = request != nullptr;
}

int Client::register_callbacks_v2(RequestOfSubscriber request, CompleteOfSubscriber complete) {
  if (!request || !complete) return kInvalidParameter;
  request_ = [request](auto... arguments) { request(arguments..., nullptr); };
  complete_ = [complete](void*, std::uint32_t, auto... arguments) { complete(arguments..., nullptr); };
  return kOk;
}

int Client::register_timestamp(Timestamp timestamp) {
  if (number("FAKE_CUPTI_NO_CLOCK")) return kNotSupported;
  if (timestamp_ != nullptr && options_.head_clock != 0) ++registered_again_;
  // This anchor and a later anchor give the rate of the client's clock.
  timestamp_ = timestamp;
  std::tie(clock_anchor_, realtime_anchor_) = anchor();
  const std::lock_guard lock(order_lock_);
  last_of_stream_.clear();
  return kOk;
}

int Client::enable(std::uint32_t kind, bool on, bool dump) {
  if (kind == 0 || kind >= kKinds) return kInvalidKind;
  if (on && !complete_) return kNotInitialized;
  const std::unique_lock no_callback = without_callbacks();
  const std::unique_lock no_call = without_calls();
  fake::Device* const device = fake::device_or_null();
  if (on && kind == kConcurrentKernel) {
    std::this_thread::sleep_for(std::chrono::milliseconds(options_.slow_enable_ms));
    if (number("FAKE_CUPTI_SYNCHRONIZES") != 0) device->wait_until_idle();
    ++sessions_;
    spoiled_ = registered_again_.load();
  }
  if (on) first_enabled(realtime());
  if (!on && kind == kConcurrentKernel && sessions_ > 0) {
    static std::atomic<bool> hung{false};
    if (!hung.exchange(true)) std::this_thread::sleep_for(std::chrono::milliseconds(options_.disable_hangs_ms));
  }
  {
    const std::lock_guard lock(kinds_lock_);
    kinds_[kind] = on;
    if (kind == kRuntime || kind == kDriver) calls_of(kind) = {.all = on};
  }
  watch();
  if (dump && kind == kDevice) tell_devices(*device);
  if (dump && kind == kContext) device->tell_of_contexts();
  if (dump && kind == kStream) device->tell_of_streams();
  return kOk;
}

int Client::enable_call(fake::Domain domain, std::uint32_t callback_id, bool on) {
  if (on && !complete_) return kNotInitialized;
  const std::unique_lock no_callback = without_callbacks();
  const std::uint32_t kind = domain == fake::Domain::kRuntime ? kRuntime : kDriver;
  fake::Device* const device = fake::device_or_null();
  const bool too_late = on && device != nullptr && device->has_primary_context(0);
  {
    const std::lock_guard lock(kinds_lock_);
    Calls& calls = calls_of(kind);
    if (calls.all == on) {
      calls.exceptions.erase(callback_id);
    } else if (!too_late) {
      calls.exceptions.insert(callback_id);
    }
    kinds_[kind] = calls.all || !calls.exceptions.empty();
  }
  watch();
  return kOk;
}

void Client::subscribe(Callback callback, void* user) {
  mine_ = {callback, user};
  subscribed_ = true;
  watch();
}

void Client::unsubscribe() {
  subscribed_ = false;
  const std::lock_guard lock(kinds_lock_);
  callbacks_.clear();
  domains_.clear();
}

int Client::enable_callback(bool on, std::uint32_t domain, std::uint32_t callback_id) {
  if (!subscribed_) return kInvalidParameter;
  const std::lock_guard lock(kinds_lock_);
  if (on)
    callbacks_.insert({domain, callback_id});
  else
    callbacks_.erase({domain, callback_id});
  return kOk;
}

int Client::enable_domain(bool on, std::uint32_t domain) {
  if (!subscribed_) return kInvalidParameter;
  const std::lock_guard lock(kinds_lock_);
  if (on)
    domains_.insert(domain);
  else
    domains_.erase(domain);
  return kOk;
}

int Client::flush(bool forced) {
  if (!complete_) return kInvalidOperation;
  if (options_.again_crashes && sessions_ > 1) std::abort();
  const std::uint64_t begin = now();
  if (forced && options_.slow_flush_ms != 0)
    std::this_thread::sleep_for(std::chrono::milliseconds(options_.slow_flush_ms));
  take_finished(forced);
  std::size_t records = 0;
  std::vector<SharedBuffer> ready;
  {
    const std::lock_guard lock(slots_lock_);
    for (const auto& slot : slots_) {
      const std::lock_guard slot_lock(slot->lock);
      if (slot->buffer->records == 0 || !slot->buffer->give_back(forced)) continue;
      records += slot->buffer->records;
      ready.push_back(std::exchange(slot->buffer, std::make_shared<Buffer>()));
    }
  }
  hand_over_full(forced);
  for (const SharedBuffer& buffer : ready) hand_over(*buffer);
  wait_for_worker();
  if (kinds_[kOverhead] && records > 1) overhead(1u << 16, begin, now(), 0);
  return kOk;
}

void Client::all_off() {
  const std::lock_guard lock(kinds_lock_);
  std::fill(std::begin(kinds_), std::end(kinds_), false);
  for (Calls& calls : calls_) calls = {};
}

void Client::finalize() {
  all_off();
  unsubscribe();
  first_enable = 0;
  request_ = nullptr;
  complete_ = nullptr;
  timestamp_ = nullptr;
}

void Client::add_to(State& state) const {
  state.requested += counters_.requested;
  state.completed += counters_.completed;
  state.dropped += all_dropped_;
  state.shared += counters_.shared;
  state.subscribed = state.subscribed || subscribed_;
  for (std::uint32_t kind = 0; kind < kKinds; ++kind) {
    state.records[kind] += counters_.records[kind];
    state.enabled[kind] = state.enabled[kind] || kinds_[kind];
  }
}

std::unique_lock<std::shared_mutex> Client::without_callbacks() {
  std::unique_lock<std::shared_mutex> lock(callback_lock_, std::defer_lock);
  if (options_.callbacks_lock) lock.lock();
  return lock;
}

std::unique_lock<std::shared_mutex> Client::without_calls() {
  std::unique_lock<std::shared_mutex> lock(calls_lock_, std::defer_lock);
  if (options_.blocks) lock.lock();
  return lock;
}

void Client::first_enabled(std::uint64_t at) {
  std::uint64_t never = 0;
  first_enable.compare_exchange_strong(never, at);
}

void Client::watch() {
  observe();
  if (!worker_started_.exchange(true)) std::thread([this] { work(); }).detach();
}

}  // namespace fake::cupti
