#pragma once

#include <cstdint>

#include "profshim/event.h"

namespace profshim {

/// CUpti_ActivitySynchronizationType: SyncArgs::kind.
enum : std::uint16_t { kEventSync = 1, kStreamWaitEvent = 2, kStreamSync = 3, kContextSync = 4 };

/// GpuArgs::kind of kMemcpy and kMemcpyPeer: three numbers of four bits each.
struct CopyKinds {
  std::uint16_t copy;         // CUpti_ActivityMemcpyKind
  std::uint16_t from_memory;  // CUpti_ActivityMemoryKind
  std::uint16_t to_memory;    // CUpti_ActivityMemoryKind
  bool operator==(const CopyKinds&) const = default;
};
constexpr std::uint16_t packed(const CopyKinds& kinds) {
  return static_cast<std::uint16_t>(kinds.copy | kinds.from_memory << 4 | kinds.to_memory << 8);
}
constexpr CopyKinds copy_kinds(std::uint16_t packed) {
  return {static_cast<std::uint16_t>(packed & 15), static_cast<std::uint16_t>(packed >> 4 & 15),
          static_cast<std::uint16_t>(packed >> 8 & 15)};
}

/// True for activities that occupy a stream.
constexpr bool is_device_activity(HookId hook) {
  return hook == HookId::kKernel || hook == HookId::kMemcpy || hook == HookId::kMemcpyPeer || hook == HookId::kMemset ||
         hook == HookId::kGraphRun;
}

}  // namespace profshim
