// The functions by which another client of CUPTI (the job's own torch.profiler, a sanitizer) shows itself. Ours makes
// room before such a call takes effect and comes back when the client has let go. Our own calls go through pointers
// taken from the library and never come here.
#include <atomic>
#include <cerrno>
#include <cstddef>
#include <cstdint>

#include "cupti_clients.h"
#include "inject/core/real_function.h"
#include "profshim/cupti_subscriber.h"
#include "profshim/device.h"
#include "profshim/recorder.h"
#include "profshim/session.h"

namespace profshim::cupti {
namespace {

constexpr int kSuccess = 0, kNotInitialized = 15, kMultipleSubscribersNotSupported = 39;

constinit std::atomic_flag busy = ATOMIC_FLAG_INIT;
constinit Clients clients;

template <class Change>
Clients change(const Change& what) {
  const Spinning lock(busy);
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

/// Callbacks that the other client has registered, to be put back when it takes CUPTI again: it need not register anew.
constinit Real real_register_callbacks{"cuptiActivityRegisterCallbacks"};
constinit Real real_register_clock{"cuptiActivityRegisterTimestampCallback"};
constinit std::atomic<void*> its_requested{nullptr}, its_completed{nullptr};

void put_back_what_it_registered() {
  void* const requested = its_requested.load(std::memory_order_acquire);
  if (requested != nullptr) real_register_callbacks(requested, its_completed.load(std::memory_order_relaxed));
}

/// Another client is about to call this function. False: it is to be refused.
bool is_let_in() {
  const Spec* const spec = session::spec();
  const bool refused = spec != nullptr && spec->profile.on_conflict == OnConflict::kRefuse && device::available();
  if (refused) recorder::problem("cupti", "another client of CUPTI was refused (profile.conflict = \"refuse\")");
  return !refused;
}
bool is_ignored() {
  const Spec* const spec = session::spec();
  return spec != nullptr && spec->profile.on_conflict == OnConflict::kIgnore;
}

/// Keeps errno as the job has it.
class KeepsErrno {
 public:
  ~KeepsErrno() { errno = saved_; }

 private:
  const int saved_ = errno;
};

/// Another client is about to use the activity API of the process. False: it is to be refused.
bool make_room(const char* call) {
  const KeepsErrno keeps;
  if (!is_let_in()) return false;
  if (!is_ignored() && device::yield_to_other_client(call)) put_back_what_it_registered();
  return true;
}

void let_go_if(bool gone) {
  const KeepsErrno keeps;
  if (gone) device::resume();
}

/// A client that has registered something, and may never record: unless it does, the device thread takes CUPTI back
/// after a second.
void expect_silence() {
  const KeepsErrno keeps;
  if (!change([](Clients&) {}).records()) device::other_client_is_silent();
}

template <class... Args>
int taking(Real& real, Args... args) {
  if (!make_room(real.name())) return kMultipleSubscribersNotSupported;
  const int result = real(args...);
  expect_silence();
  return result;
}

enum class Place {
  kShared,     // others have theirs beside it
  kCallbacks,  // the only one, for callbacks: the activity that we record goes on
  kEverything  // the only one, for callbacks and activity
};

/// Where several subscribers have places (CUPTI 13.3), ours keep out one that wants to be alone: they leave, and come
/// back to what is free then.
template <class... Args>
int subscribing(Real& real, Place place, void** subscriber, Args... args) {
  const bool alone = place != Place::kShared;
  bool left = false;
  {
    const KeepsErrno keeps;
    if (!is_let_in()) return kMultipleSubscribersNotSupported;
    if (alone && !is_ignored()) {
      const bool in_its_way = place == Place::kEverything || device::has_subscriber_place();
      left = in_its_way && device::yield_to_other_client(real.name());
      device::give_up_callbacks(real.name());
    }
  }
  const int result = real(subscriber, args...);
  const KeepsErrno keeps;
  if (result == kSuccess) {
    change([&](Clients& c) {
      c.subscribed(*subscriber, alone);
      if (place == Place::kEverything) c.took_all_buffers(*subscriber);
    });
    if (place == Place::kEverything) left = false;
  } else if (alone) {
    device::take_callbacks();
  }
  if (left) device::resume();
  return result;
}

/// `args` are those behind the kind.
template <class... Args>
int enabling(Real& real, std::uint32_t kind, Args... args) {
  if (!make_room(real.name())) return kMultipleSubscribersNotSupported;
  const int result = real(args...);
  if (result == kSuccess) {
    change([kind](Clients& c) { c.enabled(kind); });
  } else {
    expect_silence();
  }
  return result;
}

/// One function of the runtime or driver API, for the process.
template <class... Args>
int switching(Real& real, bool on, Args... args) {
  if (on && !make_room(real.name())) return kMultipleSubscribersNotSupported;
  const int result = real(args...);
  bool silent = false;
  if (result == kSuccess) change([&](Clients& c) { silent = c.switched_call(on); });
  if (silent || (on && result != kSuccess)) expect_silence();
  return result;
}

/// A kind that the client does not record may be one of ours: it stays on.
template <class... Args>
int disabling(Real& real, std::uint32_t kind, Args... args) {
  if (device::owns_cupti() && !change([](Clients&) {}).holds(kind)) return kSuccess;
  const int result = real(args...);
  bool silent = false;
  change([&](Clients& c) { silent = c.disabled(kind); });
  if (silent) device::other_client_is_silent();
  return result;
}

/// Does this CUPTI let subscribers record side by side (13.3 with its driver)? Then one that does is in nobody's way.
/// 13.2 has some of the functions already: whoever registers buffers with them gets everybody's records (read in the
/// library of 13.2.75).
bool subscribers_share() {
  static constinit Real real{"cuptiActivityGetNextRecord_v2"};
  return real.get() != nullptr && (!device::available() || device::subscribers_share());
}
Place place_of(const SubscriberParameters* wish) {
  // The struct of 13.1 ends before allow_multiple.
  const bool alone = wish == nullptr || wish->struct_size <= offsetof(SubscriberParameters, allow_multiple) ||
                     wish->allow_multiple == 0;
  if (alone) return Place::kCallbacks;
  return subscribers_share() ? Place::kShared : Place::kEverything;
}

}  // namespace
}  // namespace profshim::cupti

#define PROFSHIM_EXPORT extern "C" [[gnu::visibility("default")]]
#define PROFSHIM_REAL(name) \
  static constinit profshim::cupti::Real real { #name }

PROFSHIM_EXPORT int cuptiSubscribe(void** subscriber, void* callback, void* user) {
  PROFSHIM_REAL(cuptiSubscribe);
  return profshim::cupti::subscribing(real, profshim::cupti::Place::kCallbacks, subscriber, callback, user);
}

PROFSHIM_EXPORT int cuptiSubscribe_v2(void** subscriber, void* callback, void* user, void* parameters) {
  PROFSHIM_REAL(cuptiSubscribe_v2);
  using namespace profshim::cupti;
  const Place place = place_of(static_cast<const SubscriberParameters*>(parameters));
  return profshim::cupti::subscribing(real, place, subscriber, callback, user, parameters);
}

PROFSHIM_EXPORT int cuptiUnsubscribe(void* subscriber) {
  PROFSHIM_REAL(cuptiUnsubscribe);
  using profshim::cupti::Clients;
  const int result = real(subscriber);
  bool free = false;
  const bool records = profshim::cupti::change([&](Clients& c) { free = c.unsubscribed(subscriber); }).records();
  const profshim::cupti::KeepsErrno keeps;
  if (free && !records) profshim::device::resume();  // it has gone, also without a flush
  if (free) profshim::device::take_callbacks();
  return result;
}

PROFSHIM_EXPORT int cuptiActivityRegisterCallbacks(void* requested, void* completed) {
  using namespace profshim::cupti;
  if (!make_room(real_register_callbacks.name())) return kMultipleSubscribersNotSupported;
  const int result = real_register_callbacks(requested, completed);
  if (result == kSuccess) {
    its_completed.store(completed, std::memory_order_relaxed);
    its_requested.store(requested, std::memory_order_release);
    profshim::device::other_client_has_buffers(completed);
  }
  expect_silence();
  return result;
}

PROFSHIM_EXPORT int cuptiActivityRegisterTimestampCallback(void* callback) {
  using namespace profshim::cupti;
  const int result = taking(real_register_clock, callback);
  if (result == kSuccess) {
    profshim::device::other_client_has_clock(reinterpret_cast<std::uint64_t (*)()>(callback));
  }
  return result;
}

PROFSHIM_EXPORT int cuptiActivityEnable(std::uint32_t kind) {
  PROFSHIM_REAL(cuptiActivityEnable);
  return profshim::cupti::enabling(real, kind, kind);
}

PROFSHIM_EXPORT int cuptiActivityEnableAndDump(std::uint32_t kind) {
  PROFSHIM_REAL(cuptiActivityEnableAndDump);
  return profshim::cupti::enabling(real, kind, kind);
}

PROFSHIM_EXPORT int cuptiActivityDisable(std::uint32_t kind) {
  PROFSHIM_REAL(cuptiActivityDisable);
  return profshim::cupti::disabling(real, kind, kind);
}

PROFSHIM_EXPORT int cuptiActivityEnableContext(void* context, std::uint32_t kind) {
  PROFSHIM_REAL(cuptiActivityEnableContext);
  return profshim::cupti::enabling(real, kind, context, kind);
}

PROFSHIM_EXPORT int cuptiActivityDisableContext(void* context, std::uint32_t kind) {
  PROFSHIM_REAL(cuptiActivityDisableContext);
  return profshim::cupti::disabling(real, kind, context, kind);
}

PROFSHIM_EXPORT int cuptiActivityEnableRuntimeApi(std::uint32_t callback_id, std::uint8_t on) {
  PROFSHIM_REAL(cuptiActivityEnableRuntimeApi);
  return profshim::cupti::switching(real, on != 0, callback_id, on);
}

PROFSHIM_EXPORT int cuptiActivityEnableDriverApi(std::uint32_t callback_id, std::uint8_t on) {
  PROFSHIM_REAL(cuptiActivityEnableDriverApi);
  return profshim::cupti::switching(real, on != 0, callback_id, on);
}

// The subscriber API.
PROFSHIM_EXPORT int cuptiActivityRegisterCallbacks_v2(void* subscriber, void* requested, void* completed) {
  using namespace profshim::cupti;
  PROFSHIM_REAL(cuptiActivityRegisterCallbacks_v2);
  if (subscribers_share()) return real(subscriber, requested, completed);
  if (!make_room(real.name())) return kMultipleSubscribersNotSupported;
  const int result = real(subscriber, requested, completed);
  if (result == kSuccess) {
    change([&](Clients& c) { c.took_all_buffers(subscriber); });
  } else {
    expect_silence();
  }
  return result;
}

PROFSHIM_EXPORT int cuptiActivityEnable_v2(void* subscriber, std::uint32_t kind, void* config) {
  PROFSHIM_REAL(cuptiActivityEnable_v2);
  if (profshim::cupti::subscribers_share()) return real(subscriber, kind, config);
  return profshim::cupti::enabling(real, kind, subscriber, kind, config);
}

PROFSHIM_EXPORT int cuptiActivityEnableAndDump_v2(void* subscriber, std::uint32_t kind, void* config) {
  PROFSHIM_REAL(cuptiActivityEnableAndDump_v2);
  if (profshim::cupti::subscribers_share()) return real(subscriber, kind, config);
  return profshim::cupti::enabling(real, kind, subscriber, kind, config);
}

PROFSHIM_EXPORT int cuptiActivityDisable_v2(void* subscriber, std::uint32_t kind, void* config) {
  PROFSHIM_REAL(cuptiActivityDisable_v2);
  if (profshim::cupti::subscribers_share()) return real(subscriber, kind, config);
  return profshim::cupti::disabling(real, kind, subscriber, kind, config);
}

// A client that keeps its subscription and records nothing is in nobody's way: so does Kineto between two profiles.
// Only after the flush that follows has it got its last buffers; one that never flushes is waited for by the device
// thread.
PROFSHIM_EXPORT int cuptiActivityFlushAll(std::uint32_t flag) {
  PROFSHIM_REAL(cuptiActivityFlushAll);
  const int result = real(flag);
  using profshim::cupti::Clients;
  bool gone = false;
  profshim::cupti::change([&gone](Clients& c) { gone = c.take_silence(); });
  profshim::cupti::let_go_if(gone);
  return result;
}

PROFSHIM_EXPORT int cuptiFinalize() {
  PROFSHIM_REAL(cuptiFinalize);
  const bool room = profshim::cupti::make_room(real.name());
  const int result = room ? real() : profshim::cupti::kMultipleSubscribersNotSupported;
  using profshim::cupti::Clients;
  if (room) {
    profshim::cupti::change([](Clients& c) { c.finalized(); });
    profshim::cupti::its_requested.store(nullptr);
    profshim::device::other_client_has_clock(nullptr);
    profshim::device::other_client_has_buffers(nullptr);
    // The call may come from a callback of CUPTI: not at once.
    profshim::cupti::expect_silence();
  }
  return result;
}
