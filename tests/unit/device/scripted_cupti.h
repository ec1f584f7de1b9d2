// A fake CUPTI whose behavior a test sets. Only one instance may exist.
#pragma once

#include <cstdint>
#include <cstring>
#include <deque>
#include <functional>
#include <new>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "device/capture/capture.h"

namespace profshim::test {

/// Record sizes in bytes. Fields that we read have the same offsets in all CUPTI releases.
struct RecordSizes {
  std::uint32_t version;
  std::size_t kernel, memcpy, overhead, graph;
};
inline constexpr RecordSizes kCupti118{18, 200, 88, 40, 48}, kCupti124{22, 208, 96, 48, 48},
    kCupti130{130001, 216, 96, 56, 56};

class ScriptedCupti {
 public:
  explicit ScriptedCupti(const RecordSizes& sizes = kCupti130) : sizes_(sizes) { current_ = this; }
  ~ScriptedCupti() { current_ = nullptr; }
  ScriptedCupti(const ScriptedCupti&) = delete;
  ScriptedCupti& operator=(const ScriptedCupti&) = delete;

  device::CuptiApi api() const {
    device::CuptiApi api;
    add_queries(api);
    add_switches(api);
    add_buffers(api);
    return api;
  }

  template <class Record>
  void add(const Record& record) {
    if (buffer_ == nullptr) request();
    if (buffer_ == nullptr) return;
    const std::size_t bytes = size_of(record.kind);
    std::memset(buffer_ + filled_, 0, bytes);
    std::memcpy(buffer_ + filled_, &record, std::min(bytes, sizeof record));
    filled_ += bytes;
  }
  bool request() {
    std::size_t most = 0;
    requested_(&buffer_, &size_, &most);
    filled_ = 0;
    return buffer_ != nullptr;
  }
  /// Takes the current buffer, which CUPTI then never returns.
  std::uint8_t* take_buffer() { return std::exchange(buffer_, nullptr); }
  /// Makes the next flush return the current buffer, `cut` bytes shorter.
  void deliver(std::size_t cut = 0) {
    waiting_.push_back({buffer_, size_, filled_ - cut});
    buffer_ = nullptr;
  }
  /// Returns the current buffer at once, like a full buffer.
  void complete() { completed_(nullptr, 0, std::exchange(buffer_, nullptr), size_, filled_); }
  void reverse_deliveries() { waiting_ = {waiting_.rbegin(), waiting_.rend()}; }
  void complete_foreign(std::uint8_t* buffer) { completed_(nullptr, 0, buffer, 64, 64); }

  std::set<std::uint32_t> kinds, dumped_kinds, refused_kinds;
  std::vector<std::uint32_t> flushes;
  int enable_result = 0, clock_result = 0, registration_result = 0, registrations = 0, clocks = 0, kernel_enables = 0;
  std::size_t dropped = 0;

 private:
  static void add_queries(device::CuptiApi& api) {
    api.get_version = [](std::uint32_t* version) {
      *version = current_->sizes_.version;
      return 0;
    };
    api.callback_name = [](int domain, std::uint32_t id, const char** name) {
      static constexpr const char* kRuntime[] = {nullptr,
                                                 "cudaLaunchKernel_v7000",
                                                 "cudaGetDevice_v3020",
                                                 "cudaMemcpyAsync_ptsz_v7000",
                                                 "__cudaLaunchKernel_v13000",
                                                 "cudaMemcpy_v3020",
                                                 "cudaStreamBeginCapture_v10000",
                                                 "cudaStreamEndCapture_v10000",
                                                 "cudaGraphLaunch_v10000",
                                                 "cudaDeviceSynchronize_v3020"};
      static constexpr const char* kDriver[] = {nullptr, "cuLaunchKernel", "cuCtxGetCurrent", "cuMemAlloc_v2"};
      *name = nullptr;
      if (domain == device::cupti::kRuntimeDomain && id < std::size(kRuntime)) *name = kRuntime[id];
      if (domain == device::cupti::kDriverDomain && id < std::size(kDriver)) *name = kDriver[id];
      return *name != nullptr ? 0 : 1;
    };
  }
  static void add_switches(device::CuptiApi& api) {
    api.register_callbacks = [](device::BufferRequested requested, device::BufferCompleted completed) {
      current_->requested_ = requested;
      current_->completed_ = completed;
      ++current_->registrations;
      return current_->registration_result;
    };
    api.register_timestamps = [](device::TimestampCallback) {
      ++current_->clocks;
      return current_->clock_result;
    };
    api.enable = [](std::uint32_t kind) {
      const int result = current_->refused_kinds.count(kind) != 0 ? 15 : current_->enable_result;
      if (result == 0) current_->kinds.insert(kind);
      current_->kernel_enables += kind == device::cupti::kConcurrentKernelKind ? 1 : 0;
      return result;
    };
    api.enable_and_dump = [](std::uint32_t kind) {
      const int result = current_->refused_kinds.count(kind) != 0 ? 15 : current_->enable_result;
      if (result != 0) return result;
      current_->kinds.insert(kind);
      current_->dumped_kinds.insert(kind);
      return 0;
    };
    api.disable = [](std::uint32_t kind) {
      current_->kinds.erase(kind);
      return 0;
    };
  }
  static void add_buffers(device::CuptiApi& api) {
    api.flush_all = [](std::uint32_t flag) {
      current_->flushes.push_back(flag);
      while (!current_->waiting_.empty()) {
        const Delivery next = current_->waiting_.front();
        current_->waiting_.pop_front();
        current_->completed_(nullptr, 0, next.buffer, next.size, next.valid);
      }
      return 0;
    };
    api.next_record = [](std::uint8_t* buffer, std::size_t valid, device::cupti::Record** record) {
      std::uint8_t* next = buffer;
      if (*record != nullptr) {
        const auto* const last = reinterpret_cast<const std::uint8_t*>(*record);
        next = buffer + (last - buffer) + current_->size_of((*record)->kind);
      }
      if (next >= buffer + valid) return 12;
      *record = reinterpret_cast<device::cupti::Record*>(next);
      return 0;
    };
    api.dropped_records = [](void*, std::uint32_t, std::size_t* count) {
      *count = current_->dropped;
      current_->dropped = 0;
      return 0;
    };
  }

  struct Delivery {
    std::uint8_t* buffer;
    std::size_t size, valid;
  };
  std::size_t size_of(std::uint32_t kind) const {
    using namespace device::cupti;
    switch (kind) {
      case kConcurrentKernelKind:
        return sizes_.kernel;
      case kMemcpyKind:
        return sizes_.memcpy;
      case kOverheadKind:
        return sizes_.overhead;
      case kGraphTraceKind:
        return sizes_.graph;
      case kRuntimeKind:
      case kDriverKind:
        return sizeof(ApiRecord);
      case kDeviceKind:
        return 184;
      case kSynchronizationKind:
        return sizeof(SynchronizationRecord);
      default:
        return 24;  // ExternalRecord, and unknown kinds
    }
  }

  static inline ScriptedCupti* current_ = nullptr;
  const RecordSizes sizes_;
  device::BufferRequested requested_ = nullptr;
  device::BufferCompleted completed_ = nullptr;
  std::uint8_t* buffer_ = nullptr;
  std::size_t size_ = 0, filled_ = 0;
  std::deque<Delivery> waiting_;
};

class Collected final : public device::EventOutput {
 public:
  void put(const Event& event, const Event* continuation) override {
    if (no_memory) throw std::bad_alloc();
    events.push_back(event);
    if (on_put) on_put();
    if (continuation != nullptr) continuations.push_back(*continuation);
  }
  StringId text(const char* text) override {
    texts.emplace_back(text);
    return static_cast<StringId>(texts.size());
  }
  void define(spool::DefinitionKind kind, std::uint32_t id, std::string_view, std::string_view text,
              std::initializer_list<std::int64_t>) override {
    definitions.push_back({kind, id, std::string(text)});
  }
  std::string name_of(const Event& event) const { return event.name == 0 ? "" : texts[event.name - 1]; }
  std::vector<Event> of(HookId hook) const {
    std::vector<Event> found;
    for (const Event& event : events) {
      if (event.hook == hook) found.push_back(event);
    }
    return found;
  }

  struct Definition {
    spool::DefinitionKind kind;
    std::uint32_t id;
    std::string text;
  };
  bool no_memory = false;
  std::function<void()> on_put;
  std::vector<Event> events, continuations;
  std::vector<std::string> texts;
  std::vector<Definition> definitions;
};

}  // namespace profshim::test
