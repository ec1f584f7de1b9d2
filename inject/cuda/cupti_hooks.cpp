// Other CUPTI clients of the job (torch.profiler, a sanitizer) call these hooks; our own calls bypass them. profshim
// releases CUPTI before such a call, and takes CUPTI back when the client has stopped.
#include <atomic>
#include <cerrno>
#include <cstddef>
#include <cstdint>

#include "cupti_clients.h"
#include "inject/core/loader/real_function.h"
#include "inject/core/macros.h"
#include "profshim/cupti_subscriber.h"
#include "profshim/device.h"
#include "profshim/recorder.h"
#include "profshim/session.h"

namespace profshim::cupti {
namespace {

constexpr int kSuccess = 0, kNotInitialized = 15, kMultipleSubscribersNotSupported = 39;

constinit std::atomic_flag clients_lock = ATOMIC_FLAG_INIT;
constinit OtherClients clients;

template <class Change>
OtherClients update_clients(const Change& what) {
  const SpinLockGuard lock(clients_lock);
  what(clients);
  return clients;
}

struct Real : inject::NamedFunction<void()> {
  explicit constexpr Real(const char* name) : NamedFunction(Layer::kCuda, name) {}
  template <class... Args>
  int operator()(Args... args) {
    auto* const found = get();
    return found != nullptr ? reinterpret_cast<int (*)(Args...)>(found)(args...) : kNotInitialized;
  }
};

constinit Real real_register_callbacks{"cuptiActivityRegisterCallbacks"};
constinit Real real_register_clock{"cuptiActivityRegisterTimestampCallback"};
/// The client's buffer callbacks, registered again when profshim releases CUPTI.
constinit std::atomic<void*> client_requested{nullptr}, client_completed{nullptr};

void restore_client_callbacks() {
  void* const requested = client_requested.load(std::memory_order_acquire);
  if (requested != nullptr) real_register_callbacks(requested, client_completed.load(std::memory_order_relaxed));
}

bool admit_client() {
  const Spec* const spec = session::spec();
  const bool refused = spec != nullptr && spec->profile.on_conflict == OnConflict::kRefuse && device::available();
  if (refused) {
    recorder::problem("cupti",
                      "the job's own profiler was refused CUPTI (profile.conflict = \"refuse\"): set "
                      "profile.conflict = \"yield\" to hand CUPTI over");
  }
  return !refused;
}
bool is_ignored() {
  const Spec* const spec = session::spec();
  return spec != nullptr && spec->profile.on_conflict == OnConflict::kIgnore;
}

class PreserveErrno {
 public:
  ~PreserveErrno() { errno = saved_; }

 private:
  const int saved_ = errno;
};

bool yield_to_client(const char* call) {
  const PreserveErrno preserve;
  if (!admit_client()) return false;
  if (!is_ignored() && device::yield_to_other_client(call)) restore_client_callbacks();
  return true;
}

void resume_if(bool gone) {
  const PreserveErrno preserve;
  if (gone) device::resume();
}

/// Lets the device thread take CUPTI back after a second, unless another client records.
void resume_unless_recording() {
  const PreserveErrno preserve;
  if (!update_clients([](OtherClients&) {}).is_recording()) device::on_other_client_silent();
}

template <class... Args>
int forward_registration(Real& real, Args... args) {
  if (!yield_to_client(real.name())) return kMultipleSubscribersNotSupported;
  const int result = real(args...);
  resume_unless_recording();
  return result;
}

enum class Subscription {
  kShared,
  kCallbacks,            // no other subscriber may have callbacks; our activity recording continues
  kCallbacksAndActivity  // no other subscriber may have callbacks or activity
};

/// CUPTI 13.3 refuses a subscriber that must be alone while profshim is subscribed, so profshim first unsubscribes.
template <class... Args>
int forward_subscribe(Real& real, Subscription subscription, void** subscriber, Args... args) {
  const bool alone = subscription != Subscription::kShared;
  bool left = false;
  {
    const PreserveErrno preserve;
    if (!admit_client()) return kMultipleSubscribersNotSupported;
    if (alone && !is_ignored()) {
      const bool in_its_way = subscription == Subscription::kCallbacksAndActivity || device::has_subscriber_api();
      left = in_its_way && device::yield_to_other_client(real.name());
      device::release_callbacks(real.name());
    }
  }
  const int result = real(subscriber, args...);
  const PreserveErrno preserve;
  if (result == kSuccess) {
    update_clients([&](OtherClients& c) {
      c.on_subscribe(*subscriber, alone);
      if (subscription == Subscription::kCallbacksAndActivity) c.on_all_buffers_taken(*subscriber);
    });
    if (subscription == Subscription::kCallbacksAndActivity) left = false;
  } else if (alone) {
    device::take_callbacks();
  }
  if (left) device::resume();
  return result;
}

template <class... Args>
int forward_enable(Real& real, std::uint32_t kind, Args... args) {
  if (!yield_to_client(real.name())) return kMultipleSubscribersNotSupported;
  const int result = real(args...);
  if (result == kSuccess) {
    update_clients([kind](OtherClients& c) { c.on_enable(kind); });
  } else {
    resume_unless_recording();
  }
  return result;
}

template <class... Args>
int forward_api_switch(Real& real, bool on, Args... args) {
  if (on && !yield_to_client(real.name())) return kMultipleSubscribersNotSupported;
  const int result = real(args...);
  bool silent = false;
  if (result == kSuccess) update_clients([&](OtherClients& c) { silent = c.on_api_switch(on); });
  if (silent || (on && result != kSuccess)) resume_unless_recording();
  return result;
}

/// Does not disable a kind that only profshim has enabled.
template <class... Args>
int forward_disable(Real& real, std::uint32_t kind, Args... args) {
  if (device::owns_cupti() && !update_clients([](OtherClients&) {}).holds(kind)) return kSuccess;
  const int result = real(args...);
  bool silent = false;
  update_clients([&](OtherClients& c) { silent = c.on_disable(kind); });
  if (silent) device::on_other_client_silent();
  return result;
}

/// True if subscribers record independently (since CUPTI 13.3 update 1 and driver 13.3).
bool subscribers_share() {
  static constinit Real real{"cuptiActivityGetNextRecord_v2"};
  return real.get() != nullptr && (!device::available() || device::subscribers_share());
}
Subscription subscription_of(const SubscriberParameters* wish) {
  // In CUPTI 13.1, SubscriberParameters ends before allow_multiple.
  const bool alone = wish == nullptr || wish->struct_size <= offsetof(SubscriberParameters, allow_multiple) ||
                     wish->allow_multiple == 0;
  if (alone) return Subscription::kCallbacks;
  return subscribers_share() ? Subscription::kShared : Subscription::kCallbacksAndActivity;
}

}  // namespace
}  // namespace profshim::cupti

#define PROFSHIM_REAL(name) \
  static constinit profshim::cupti::Real real { #name }

PROFSHIM_EXPORT int cuptiSubscribe(void** subscriber, void* callback, void* user) {
  PROFSHIM_REAL(cuptiSubscribe);
  return profshim::cupti::forward_subscribe(real, profshim::cupti::Subscription::kCallbacks, subscriber, callback,
                                            user);
}

PROFSHIM_EXPORT int cuptiSubscribe_v2(void** subscriber, void* callback, void* user, void* parameters) {
  PROFSHIM_REAL(cuptiSubscribe_v2);
  using namespace profshim::cupti;
  const Subscription subscription = subscription_of(static_cast<const SubscriberParameters*>(parameters));
  return profshim::cupti::forward_subscribe(real, subscription, subscriber, callback, user, parameters);
}

PROFSHIM_EXPORT int cuptiUnsubscribe(void* subscriber) {
  PROFSHIM_REAL(cuptiUnsubscribe);
  using profshim::cupti::OtherClients;
  const int result = real(subscriber);
  bool free = false;
  const bool records =
      profshim::cupti::update_clients([&](OtherClients& c) { free = c.on_unsubscribe(subscriber); }).is_recording();
  const profshim::cupti::PreserveErrno preserve;
  if (free && !records) profshim::device::resume();  // the client left without a flush
  if (free) profshim::device::take_callbacks();
  return result;
}

PROFSHIM_EXPORT int cuptiActivityRegisterCallbacks(void* requested, void* completed) {
  using namespace profshim::cupti;
  if (!yield_to_client(real_register_callbacks.name())) return kMultipleSubscribersNotSupported;
  const int result = real_register_callbacks(requested, completed);
  if (result == kSuccess) {
    client_completed.store(completed, std::memory_order_relaxed);
    client_requested.store(requested, std::memory_order_release);
    profshim::device::on_other_client_buffers(completed);
  }
  resume_unless_recording();
  return result;
}

PROFSHIM_EXPORT int cuptiActivityRegisterTimestampCallback(void* callback) {
  using namespace profshim::cupti;
  const int result = forward_registration(real_register_clock, callback);
  if (result == kSuccess) {
    profshim::device::on_other_client_clock(reinterpret_cast<std::uint64_t (*)()>(callback));
  }
  return result;
}

PROFSHIM_EXPORT int cuptiActivityEnable(std::uint32_t kind) {
  PROFSHIM_REAL(cuptiActivityEnable);
  return profshim::cupti::forward_enable(real, kind, kind);
}

PROFSHIM_EXPORT int cuptiActivityEnableAndDump(std::uint32_t kind) {
  PROFSHIM_REAL(cuptiActivityEnableAndDump);
  return profshim::cupti::forward_enable(real, kind, kind);
}

PROFSHIM_EXPORT int cuptiActivityDisable(std::uint32_t kind) {
  PROFSHIM_REAL(cuptiActivityDisable);
  return profshim::cupti::forward_disable(real, kind, kind);
}

PROFSHIM_EXPORT int cuptiActivityEnableContext(void* context, std::uint32_t kind) {
  PROFSHIM_REAL(cuptiActivityEnableContext);
  return profshim::cupti::forward_enable(real, kind, context, kind);
}

PROFSHIM_EXPORT int cuptiActivityDisableContext(void* context, std::uint32_t kind) {
  PROFSHIM_REAL(cuptiActivityDisableContext);
  return profshim::cupti::forward_disable(real, kind, context, kind);
}

PROFSHIM_EXPORT int cuptiActivityEnableRuntimeApi(std::uint32_t callback_id, std::uint8_t on) {
  PROFSHIM_REAL(cuptiActivityEnableRuntimeApi);
  return profshim::cupti::forward_api_switch(real, on != 0, callback_id, on);
}

PROFSHIM_EXPORT int cuptiActivityEnableDriverApi(std::uint32_t callback_id, std::uint8_t on) {
  PROFSHIM_REAL(cuptiActivityEnableDriverApi);
  return profshim::cupti::forward_api_switch(real, on != 0, callback_id, on);
}

PROFSHIM_EXPORT int cuptiActivityRegisterCallbacks_v2(void* subscriber, void* requested, void* completed) {
  using namespace profshim::cupti;
  PROFSHIM_REAL(cuptiActivityRegisterCallbacks_v2);
  if (subscribers_share()) return real(subscriber, requested, completed);
  if (!yield_to_client(real.name())) return kMultipleSubscribersNotSupported;
  const int result = real(subscriber, requested, completed);
  if (result == kSuccess) {
    update_clients([&](OtherClients& c) { c.on_all_buffers_taken(subscriber); });
  } else {
    resume_unless_recording();
  }
  return result;
}

PROFSHIM_EXPORT int cuptiActivityEnable_v2(void* subscriber, std::uint32_t kind, void* config) {
  PROFSHIM_REAL(cuptiActivityEnable_v2);
  if (profshim::cupti::subscribers_share()) return real(subscriber, kind, config);
  return profshim::cupti::forward_enable(real, kind, subscriber, kind, config);
}

PROFSHIM_EXPORT int cuptiActivityEnableAndDump_v2(void* subscriber, std::uint32_t kind, void* config) {
  PROFSHIM_REAL(cuptiActivityEnableAndDump_v2);
  if (profshim::cupti::subscribers_share()) return real(subscriber, kind, config);
  return profshim::cupti::forward_enable(real, kind, subscriber, kind, config);
}

PROFSHIM_EXPORT int cuptiActivityDisable_v2(void* subscriber, std::uint32_t kind, void* config) {
  PROFSHIM_REAL(cuptiActivityDisable_v2);
  if (profshim::cupti::subscribers_share()) return real(subscriber, kind, config);
  return profshim::cupti::forward_disable(real, kind, subscriber, kind, config);
}

// Kineto keeps its subscription between profiles but stops recording: CUPTI is free after Kineto's last flush.
PROFSHIM_EXPORT int cuptiActivityFlushAll(std::uint32_t flag) {
  PROFSHIM_REAL(cuptiActivityFlushAll);
  const int result = real(flag);
  using profshim::cupti::OtherClients;
  bool gone = false;
  profshim::cupti::update_clients([&gone](OtherClients& c) { gone = c.take_stopped(); });
  profshim::cupti::resume_if(gone);
  return result;
}

PROFSHIM_EXPORT int cuptiFinalize() {
  PROFSHIM_REAL(cuptiFinalize);
  const bool room = profshim::cupti::yield_to_client(real.name());
  const int result = room ? real() : profshim::cupti::kMultipleSubscribersNotSupported;
  using profshim::cupti::OtherClients;
  if (room) {
    profshim::cupti::update_clients([](OtherClients& c) { c.on_finalize(); });
    profshim::cupti::client_requested.store(nullptr);
    profshim::device::on_other_client_clock(nullptr);
    profshim::device::on_other_client_buffers(nullptr);
    // CUPTI is not taken back at once: this call may come from a CUPTI callback.
    profshim::cupti::resume_unless_recording();
  }
  return result;
}
