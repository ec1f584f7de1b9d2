// All clients of the fake CUPTI, and the rules by which they share it, as in CUPTI:
// - Initialization before the end of cuInit, or without a device, fails: CUPTI_ERROR_NOT_INITIALIZED.
// - 13.3: several subscribers share, each with its own kinds, buffers and external correlation ids
//   (cuptiActivityEnable_v2 ...). Functions of the process and of subscribers do not mix until the last subscriber has
//   unsubscribed: "global-scope activity APIs were previously used. Cannot mix", CUPTI_ERROR_NOT_COMPATIBLE.
//   cuptiActivityRegisterTimestampCallback belongs to the process. cuptiActivityFlushAll flushes for all. Source:
//   libcupti.so.13 of 13.3.75 and its headers.
// - 13.2 has some subscriber functions. A subscriber's buffer callbacks get all records until it unsubscribes; the
//   process's callbacks are not called meanwhile. Source: libcupti.so.13 of 13.2.75.
// - Other releases: one subscriber per process.
//
// FAKE_CUPTI_STATIC makes a copy inside a program, like libcupti_static.a. The first copy to subscribe or enable owns
// the driver until its cuptiFinalize; the other copy gets CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED
// (pytorch#117935). The static copy writes no log and no state.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <mutex>
#include <set>
#include <string>

#include "fakes/cupti/client.h"

namespace fake::cupti {

/// `kept` of CallState and Work holds each client's fields.
class Clients final : public fake::Observer {
 public:
  Clients();

  Client& process() { return *clients_[0]; }
  Client* subscriber(void* handle);

  /// Call first in a CUPTI function, which must return the result unless it is kOk.
  int start(const char* function);
  static bool can_initialize();
  int use(int scope);
  void log(const char* function, std::uint64_t first = 0, std::uint64_t second = 0);

  int subscribe(void** handle, Callback callback, void* user, bool shares);
  int unsubscribe(void* handle);
  int flush(bool forced);
  int finalize();

  void write_state();

  void enter(CallState& call) override;
  void exit(CallState& call) override;
  void submitted(Work& work) override;
  void finished(const Work& work) override;
  void synchronized(fake::SyncKind kind, std::uint32_t correlation, std::uint32_t context, std::uint32_t stream,
                    std::uint32_t event, std::uint64_t start, std::uint64_t end) override;
  void recorded_event(std::uint32_t correlation, std::uint32_t context, std::uint32_t stream,
                      std::uint32_t event) override;
  void memory(bool allocated, fake::MemoryKind kind, std::uint32_t device, std::uint32_t context,
              std::uint32_t correlation, const void* address, std::uint64_t bytes) override;
  void first_launch(const char* kernel, std::uint32_t correlation) override;
  void driver_initialized() override;
  void created_context(std::uint32_t device, std::uint32_t context) override;
  void created_stream(std::uint32_t context, std::uint32_t stream, std::int32_t priority) override;

 private:
  static constexpr std::size_t kMost = fake::kMostObservers;
  template <class Visit>
  void each(const Visit& visit) {
    const std::size_t count = count_;
    for (std::size_t i = 0; i < count; ++i) visit(*clients_[i], i);
  }

  std::FILE* log_ = nullptr;
  // "Drivers older than r610: a single subscriber" (CUPTI 13.3 documentation).
  const bool several_ = fake::device_or_null() == nullptr || fake::device_or_null()->driver_version() >= 13030 ||
                        FAKE_CUPTI_VERSION < 130300;
  std::mutex lock_;
  std::array<std::unique_ptr<Client>, kMost> clients_{std::make_unique<Client>()};
  std::atomic<std::size_t> count_{1};  // never decreases: a former subscriber's activities may still run
  std::set<void*> subscribed_;         // all subscribers but alone_
  void* alone_ = nullptr;
  std::atomic<int> scope_{0};  // activity API in use: 0 = none, 1 = process, 2 = subscriber
};

Clients& clients();

}  // namespace fake::cupti
