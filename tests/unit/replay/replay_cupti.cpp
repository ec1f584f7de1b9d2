#include "replay_cupti.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <string>
#include <utility>

namespace profshim::replay {
namespace {

namespace raw = fake::cupti;

struct Name {
  int domain;
  std::uint32_t id;
  const char* text;
};
constexpr Name kNames[] = {
#include "fakes/cupti/names.inc"
};

int callback_name(int domain, std::uint32_t id, const char** name) {
  static const auto& names = *[] {
    auto* const all = new std::map<std::pair<int, std::uint32_t>, const char*>;
    for (const Name& one : kNames) all->emplace(std::pair{one.domain, one.id}, one.text);
    return all;
  }();
  const auto found = names.find({domain, id});
  *name = found == names.end() ? nullptr : found->second;
  return *name == nullptr ? 1 : 0;  // CUPTI_ERROR_INVALID_PARAMETER
}

}  // namespace

ReplayCupti* ReplayCupti::current_ = nullptr;

ReplayCupti::ReplayCupti(const Generation& generation) : generation_(generation) { current_ = this; }
ReplayCupti::~ReplayCupti() { current_ = nullptr; }

device::CuptiApi ReplayCupti::api() const {
  device::CuptiApi api;
  api.get_version = [](std::uint32_t* version) {
    *version = current_->generation_.version;
    return 0;
  };
  api.callback_name = callback_name;
  api.register_callbacks = [](device::BufferRequested requested, device::BufferCompleted completed) {
    current_->requested_ = requested;
    current_->completed_ = completed;
    return 0;
  };
  api.register_timestamps = [](device::TimestampCallback) { return 0; };
  api.enable = [](std::uint32_t kind) {
    current_->kinds_.insert(kind);
    current_->were_on_.insert(kind);
    return 0;
  };
  api.disable = [](std::uint32_t kind) {
    current_->kinds_.erase(kind);
    return 0;
  };
  api.flush_all = [](std::uint32_t) {
    for (; !current_->waiting_.empty(); current_->waiting_.pop_front()) {
      const Buffer& next = current_->waiting_.front();
      current_->completed_(nullptr, 0, next.data, next.size, next.filled);
    }
    return 0;
  };
  api.next_record = [](std::uint8_t* buffer, std::size_t valid, device::cupti::Record** record) {
    std::uint8_t* next = buffer;
    if (*record != nullptr) {
      next = reinterpret_cast<std::uint8_t*>(*record) + record_bytes((*record)->kind, current_->generation_.sizes);
    }
    if (next >= buffer + valid) return static_cast<int>(device::cupti::kMaxLimitReached);
    *record = reinterpret_cast<device::cupti::Record*>(next);
    return 0;
  };
  api.dropped_records = [](void*, std::uint32_t, std::size_t* count) {
    *count = 0;
    return 0;
  };
  return api;
}

ReplayCupti::Buffer ReplayCupti::request() {
  Buffer buffer;
  std::size_t most_records = 0;
  requested_(&buffer.data, &buffer.size, &most_records);
  return buffer;
}

bool ReplayCupti::append(Buffer& buffer, const Record& record) {
  // CUPTI may have written a record before its kind was disabled.
  if (were_on_.count(record.kind) == 0) return true;
  const std::size_t bytes = bytes_of(record);
  if (buffer.data == nullptr || buffer.size - buffer.filled < bytes) return false;
  std::memcpy(buffer.data + buffer.filled, record.bytes.data(), bytes);
  buffer.filled += bytes;
  return true;
}

}  // namespace profshim::replay
