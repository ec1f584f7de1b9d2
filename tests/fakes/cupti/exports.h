#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "fakes/cupti/clients.h"

#define EXPORT extern "C" __attribute__((visibility("default")))
#define START(...)                                    \
  clients().log(__func__ __VA_OPT__(, ) __VA_ARGS__); \
  if (const int failure = clients().start(__func__); failure != kOk) return failure

namespace fake::cupti {

inline int next_record(std::uint8_t* buffer, std::size_t valid_size, std::uint8_t** record) {
  std::uint8_t* next = buffer;
  if (*record) {
    std::uint32_t kind;
    std::memcpy(&kind, *record, sizeof kind);
    next = *record + record_bytes(kind, kSizes);
  }
  if (valid_size == 0 || next >= buffer + valid_size) return kMaximumReached;
  std::uint32_t kind;
  std::memcpy(&kind, next, sizeof kind);
  if (record_bytes(kind, kSizes) == 0) return kInvalidKind;
  *record = next;
  return kOk;
}

}  // namespace fake::cupti
