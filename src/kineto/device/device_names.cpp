#include "device_names.h"

#include <array>

#include "profshim/device/activity_kinds.h"
#include "profshim/device/api_name.h"
#include "profshim/elf.h"
#include "profshim/trace/schema.h"

namespace profshim::kineto {
namespace {

// Longer names stay mangled, as in Kineto.
constexpr std::size_t kMaxMangled = 1024;

template <std::size_t N>
std::string_view at(const std::array<std::string_view, N>& names, unsigned i, std::string_view otherwise) {
  return i < N ? names[i] : otherwise;
}

}  // namespace

std::string_view copy_kind_name(unsigned kind) {
  static constexpr std::array<std::string_view, 11> kNames{"<unknown>", "HtoD", "DtoH", "HtoA", "AtoH", "AtoA",
                                                           "AtoD",      "DtoA", "DtoD", "HtoH", "PtoP"};
  return at(kNames, kind, "<unknown>");
}

std::string_view memory_kind_name(unsigned kind) {
  static constexpr std::array<std::string_view, 8> kNames{"Unknown", "Pageable", "Pinned",        "Device",
                                                          "Array",   "Managed",  "Device Static", "Managed Static"};
  return at(kNames, kind, "Unrecognized");
}

std::string_view sync_kind_name(unsigned kind) {
  static constexpr std::array<std::string_view, 5> kNames{"Unknown Sync", schema::name::kEventSync,
                                                          schema::name::kStreamWaitEvent, "Stream Sync",
                                                          schema::name::kContextSync};
  return at(kNames, kind, "Unknown Sync");
}

std::string_view overhead_kind_name(unsigned kind) {
  static constexpr std::array<std::string_view, 9> kNames{"Driver Compiler",
                                                          "Buffer Flush",
                                                          "Instrumentation",
                                                          "Resource",
                                                          "Runtime Triggered Module Loading",
                                                          "Lazy Function Loading",
                                                          "Command Buffer Full",
                                                          "Activity Buffer Request",
                                                          "UVM Activity Init"};
  return at(kNames, kind, "Unrecognized");
}

std::string demangled(std::string_view name) {
  return name.size() > kMaxMangled ? std::string(name) : elf::demangled(std::string(name));
}

std::string_view DeviceNames::kernel(StringId id) {
  const auto [at, is_new] = kernels_.try_emplace(id);
  if (is_new) at->second = demangled(view_.string(id));
  return at->second.empty() ? std::string_view("(name lost)") : at->second;
}

std::string_view DeviceNames::copy(std::uint16_t packed_kinds) {
  std::string& name = others_[std::uint32_t{1} << 16 | packed_kinds];
  if (name.empty()) {
    const CopyKinds kinds = copy_kinds(packed_kinds);
    name = schema::name::kMemcpyStart;
    name += copy_kind_name(kinds.copy);
    name += " (";
    name += memory_kind_name(kinds.from_memory);
    name += " -> ";
    name += memory_kind_name(kinds.to_memory);
    name += ')';
  }
  return name;
}

std::string_view DeviceNames::memset(std::uint16_t kind) {
  std::string& name = others_[std::uint32_t{2} << 16 | kind];
  if (name.empty()) name = "Memset (" + std::string(memory_kind_name(kind)) + ")";
  return name;
}

std::string_view DeviceNames::name_of(const Event& e) {
  switch (e.hook) {
    case HookId::kCudaApi: {
      const std::string_view name = plain_api_name(view_.string(e.name));
      return name.empty() ? std::string_view("(name lost)") : name;
    }
    case HookId::kKernel:
      return kernel(e.name);
    case HookId::kMemcpy:
    case HookId::kMemcpyPeer:
      return copy(e.gpu.kind);
    case HookId::kMemset:
      return memset(e.gpu.kind);
    case HookId::kGraphRun:
      return "CUDA graph";
    case HookId::kCudaSync:
      return sync_kind_name(e.sync.kind);
    case HookId::kCudaOverhead:
      return overhead_kind_name(e.cuda_overhead.kind);
    default:
      return schema::name::kMemory;
  }
}

}  // namespace profshim::kineto
