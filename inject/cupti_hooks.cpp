// The functions by which another client of CUPTI (the job's own torch.profiler, a sanitizer) shows itself. Ours makes
// room before such a call takes effect and comes back when the client has let go. Our own calls go through pointers
// taken from the library and never come here.
#include <atomic>
#include <cerrno>
#include <cstdint>

#include "cupti_clients.h"
#include "profshim/device.h"
#include "profshim/recorder.h"
#include "profshim/session.h"
#include "resolve.h"

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

/// Found at the first call, by whichever thread; kept.
struct Real {
  const char* name;
  std::atomic<void*> address{nullptr};
  template <class... Args>
  int operator()(Args... args) {
    void* found = address.load(std::memory_order_acquire);
    if (found == nullptr) {
      found = inject::resolve(name, Layer::kCuda);
      if (found == nullptr) return kNotInitialized;
      address.store(found, std::memory_order_release);
    }
    return reinterpret_cast<int (*)(Args...)>(found)(args...);
  }
};

/// What the other client has registered, to be put back when it takes CUPTI again: it need not register anew.
constinit Real real_register_callbacks{"cuptiActivityRegisterCallbacks"};
constinit Real real_register_clock{"cuptiActivityRegisterTimestampCallback"};
constinit std::atomic<void*> its_requested{nullptr}, its_completed{nullptr}, its_clock{nullptr};

void put_back_what_it_registered() {
  void* const requested = its_requested.load(std::memory_order_acquire);
  if (requested != nullptr) real_register_callbacks(requested, its_completed.load(std::memory_order_relaxed));
  if (void* const clock = its_clock.load(std::memory_order_acquire)) {
    real_register_clock(clock);
    device::other_client_has_clock();
  }
}

/// Another client is about to take CUPTI. False: it is to be refused.
bool make_room(const char* call) {
  const int saved_errno = errno;
  const Spec* const spec = session::spec();
  const OnConflict wish = spec != nullptr ? spec->profile.on_conflict : OnConflict::kYield;
  const bool refuse = wish == OnConflict::kRefuse && device::available();
  if (!refuse && wish != OnConflict::kIgnore && device::yield_to_other_client(call)) put_back_what_it_registered();
  if (refuse) recorder::problem("cupti", "another client of CUPTI was refused (profile.conflict = \"refuse\")");
  errno = saved_errno;
  return !refuse;
}

void let_go_if(bool gone) {
  const int saved_errno = errno;
  if (gone) device::resume();
  errno = saved_errno;
}

template <class... Args>
int taking(Real& real, Args... args) {
  return make_room(real.name) ? real(args...) : kMultipleSubscribersNotSupported;
}

int subscribing(Real& real, void** subscriber, void* callback, void* user, void* parameters, bool with_parameters) {
  if (!make_room(real.name)) return kMultipleSubscribersNotSupported;
  const int result = with_parameters ? real(subscriber, callback, user, parameters) : real(subscriber, callback, user);
  if (result == kSuccess) {
    change([](Clients& c) { c.subscribed(); });
  } else {
    let_go_if(!change([](Clients&) {}).anything());
  }
  return result;
}

int enabling(Real& real, std::uint32_t kind, void* subscriber, bool with_subscriber) {
  if (!make_room(real.name)) return kMultipleSubscribersNotSupported;
  const int result = with_subscriber ? real(subscriber, kind) : real(kind);
  if (result == kSuccess) {
    change([kind](Clients& c) { c.enabled(kind); });
  } else {
    let_go_if(!change([](Clients&) {}).anything());
  }
  return result;
}

int disabling(Real& real, std::uint32_t kind, void* subscriber, bool with_subscriber) {
  const int result = with_subscriber ? real(subscriber, kind) : real(kind);
  change([kind](Clients& c) { c.disabled(kind); });
  return result;
}

}  // namespace
}  // namespace profshim::cupti

#define PROFSHIM_EXPORT extern "C" [[gnu::visibility("default")]]
#define PROFSHIM_REAL(name) \
  static constinit profshim::cupti::Real real { #name }

PROFSHIM_EXPORT int cuptiSubscribe(void** subscriber, void* callback, void* user) {
  PROFSHIM_REAL(cuptiSubscribe);
  return profshim::cupti::subscribing(real, subscriber, callback, user, nullptr, false);
}

PROFSHIM_EXPORT int cuptiSubscribe_v2(void** subscriber, void* callback, void* user, void* parameters) {
  PROFSHIM_REAL(cuptiSubscribe_v2);
  return profshim::cupti::subscribing(real, subscriber, callback, user, parameters, true);
}

PROFSHIM_EXPORT int cuptiUnsubscribe(void* subscriber) {
  PROFSHIM_REAL(cuptiUnsubscribe);
  const int result = real(subscriber);
  using profshim::cupti::Clients;
  profshim::cupti::let_go_if(!profshim::cupti::change([](Clients& c) { c.unsubscribed(); }).anything());
  return result;
}

PROFSHIM_EXPORT int cuptiActivityRegisterCallbacks(void* requested, void* completed) {
  using namespace profshim::cupti;
  const int result = taking(real_register_callbacks, requested, completed);
  if (result == kSuccess) {
    its_completed.store(completed, std::memory_order_relaxed);
    its_requested.store(requested, std::memory_order_release);
  }
  return result;
}

PROFSHIM_EXPORT int cuptiActivityRegisterCallbacks_v2(void* subscriber, void* requested, void* completed) {
  PROFSHIM_REAL(cuptiActivityRegisterCallbacks_v2);
  return profshim::cupti::taking(real, subscriber, requested, completed);
}

PROFSHIM_EXPORT int cuptiActivityRegisterTimestampCallback(void* callback) {
  using namespace profshim::cupti;
  const int result = taking(real_register_clock, callback);
  if (result == kSuccess) its_clock.store(callback, std::memory_order_release);
  return result;
}

PROFSHIM_EXPORT int cuptiActivityEnable(std::uint32_t kind) {
  PROFSHIM_REAL(cuptiActivityEnable);
  return profshim::cupti::enabling(real, kind, nullptr, false);
}

PROFSHIM_EXPORT int cuptiActivityEnable_v2(void* subscriber, std::uint32_t kind) {
  PROFSHIM_REAL(cuptiActivityEnable_v2);
  return profshim::cupti::enabling(real, kind, subscriber, true);
}

PROFSHIM_EXPORT int cuptiActivityDisable(std::uint32_t kind) {
  PROFSHIM_REAL(cuptiActivityDisable);
  return profshim::cupti::disabling(real, kind, nullptr, false);
}

PROFSHIM_EXPORT int cuptiActivityDisable_v2(void* subscriber, std::uint32_t kind) {
  PROFSHIM_REAL(cuptiActivityDisable_v2);
  return profshim::cupti::disabling(real, kind, subscriber, true);
}

// A client that keeps its subscription and records nothing is in nobody's way: so does Kineto between two profiles.
// Only after the flush that follows has it got its last buffers.
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
  const bool room = profshim::cupti::make_room(real.name);
  const int result = room ? real() : profshim::cupti::kMultipleSubscribersNotSupported;
  using profshim::cupti::Clients;
  if (room) {
    profshim::cupti::change([](Clients& c) { c.finalized(); });
    profshim::cupti::its_requested.store(nullptr);
    profshim::cupti::its_clock.store(nullptr);
  }
  profshim::cupti::let_go_if(room);
  return result;
}
