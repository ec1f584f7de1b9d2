#include "fakes/cupti/clients.h"

#include <cstring>

#include "fakes/environment.h"

namespace fake::cupti {

namespace {

#ifdef FAKE_CUPTI_STATIC
constexpr bool kIsStatic = true;
#else
constexpr bool kIsStatic = false;
#endif

__attribute__((destructor)) void at_end() { clients().write_state(); }

}  // namespace

/// Never destroyed: threads may launch while the job ends.
Clients& clients() {
  static auto* const instance = new Clients;
  return *instance;
}

void observe() { fake::device_or_null()->set_observer(&clients()); }

Clients::Clients() {
  if (const std::string name = fake::path("FAKE_CUPTI_LOG"); !kIsStatic && !name.empty())
    log_ = std::fopen(name.c_str(), "we");
  if (number("FAKE_CUPTI_SUBSCRIBED")) alone_ = this;
}

Client* Clients::subscriber(void* handle) {
  const std::lock_guard lock(lock_);
  for (std::size_t i = 1; i < count_; ++i) {
    if (clients_[i].get() == handle && subscribed_.count(handle) != 0) return clients_[i].get();
  }
  return handle != nullptr && handle == alone_ && handle != this ? &process() : nullptr;
}

int Clients::start(const char* function) {
  const int result = static_cast<int>(fake::lookup(fake::text("FAKE_CUPTI_FAIL"), function, kOk));
  if (result == kOk && !can_initialize()) return kNotInitialized;
  // CUPTI fails with CUPTI_ERROR_UNKNOWN on a driver of an older CUDA: seen with CUPTI 13.0 on libcuda 550.
  constexpr int kMajor = FAKE_CUPTI_VERSION >= 130000 ? 13 : FAKE_CUPTI_VERSION >= 22 ? 12 : 11;
  if (result == kOk && fake::device_or_null()->driver_version() / 1000 < kMajor) return kUnknown;
  const bool takes_driver = std::strstr(function, "Subscribe") || std::strstr(function, "ActivityEnable");
  if (result == kOk && takes_driver && !fake::device_or_null()->take_driver(this)) return kSeveralSubscribers;
  return result;
}

bool Clients::can_initialize() {
  fake::Device* const device = fake::device_or_null();
  return device != nullptr && device->is_up();
}

int Clients::use(int scope) {
  if (!kHasSubscribers) return kOk;
  int free = 0;
  return scope_.compare_exchange_strong(free, scope) || free == scope ? kOk : kNotCompatible;
}

void Clients::log(const char* function, std::uint64_t first, std::uint64_t second) {
  if (!log_) return;
  std::fprintf(log_, "%llu %s %llu %llu\n", static_cast<unsigned long long>(realtime()), function,
               static_cast<unsigned long long>(first), static_cast<unsigned long long>(second));
  std::fflush(log_);
}

int Clients::subscribe(void** handle, Callback callback, void* user, bool shares) {
  const std::lock_guard lock(lock_);
  if (alone_ != nullptr || (!subscribed_.empty() && (!shares || !several_))) return kSeveralSubscribers;
  if (!shares) {
    alone_ = &process();
    process().subscribe(callback, user);
  } else {
    if (count_ == kMost) return kSeveralSubscribers;
    clients_[count_] = std::make_unique<Client>(true);
    clients_[count_]->subscribe(callback, user);
    subscribed_.insert(clients_[count_].get());
    ++count_;
  }
  *handle = shares ? static_cast<void*>(clients_[count_ - 1].get()) : alone_;
  return kOk;
}

int Clients::unsubscribe(void* handle) {
  Client* const client = subscriber(handle);
  if (client == nullptr) return kInvalidParameter;
  client->unsubscribe();
  if (client != &process()) client->all_off();
  if (client != &process() && !kHasSubscribers) process().taken(nullptr, nullptr);
  const std::lock_guard lock(lock_);
  if (handle == alone_) alone_ = nullptr;
  subscribed_.erase(handle);
  if (alone_ == nullptr && subscribed_.empty()) scope_ = 0;
  return kOk;
}

int Clients::flush(bool forced) {
  int result = kInvalidOperation;
  for (std::size_t i = 0; i < count_; ++i) {
    if (const int one = clients_[i]->flush(forced); one == kOk) result = kOk;
  }
  return result;
}

int Clients::finalize() {
  for (std::size_t i = 0; i < count_; ++i) clients_[i]->finalize();
  fake::device_or_null()->set_observer(nullptr);
  fake::device_or_null()->let_driver_go(this);
  const std::lock_guard lock(lock_);
  alone_ = nullptr;
  subscribed_.clear();
  scope_ = 0;
  return kOk;
}

void Clients::write_state() {
  const std::string name = fake::path("FAKE_CUPTI_STATE");
  std::FILE* file = kIsStatic || name.empty() ? nullptr : std::fopen(name.c_str(), "we");
  if (!file) return;
  State state;
  for (std::size_t i = 0; i < count_; ++i) clients_[i]->add_to(state);
  const auto line = [file](const std::string& what, std::uint64_t value) {
    std::fprintf(file, "%s %llu\n", what.c_str(), static_cast<unsigned long long>(value));
  };
  line("requested", state.requested);
  line("completed", state.completed);
  line("dropped", state.dropped);
  line("shared_buffers", state.shared);
  line("subscribed", state.subscribed ? 1 : 0);
  line("scope", static_cast<std::uint64_t>(scope_.load()));
  for (std::uint32_t kind = 0; kind < kKinds; ++kind) {
    if (state.enabled[kind]) line("enabled", kind);
    if (state.records[kind]) line("records_" + std::to_string(kind), state.records[kind]);
  }
  std::fclose(file);
}

}  // namespace fake::cupti
