#include "chain.h"

#include <dlfcn.h>

#include <algorithm>
#include <atomic>
#include <climits>
#include <cstring>

namespace profshim::nvtx::chain {

constinit NvtxFunctionPointer core[kCoreSlots] = {};
constinit NvtxFunctionPointer core2[kCore2Slots] = {};
constinit NvtxFunctionPointer sync_create = nullptr;
constinit std::intptr_t payload[kPayloadSlots] = {};

namespace {

constinit char tool_path[PATH_MAX] = {};

void* tool_library() {
  static void* const library = dlopen(tool_path, RTLD_LAZY | RTLD_LOCAL);
  return library;
}

struct Table {
  NvtxFunctionTable functions = nullptr;
  unsigned size = 0;
};
Table table_of(const NvtxExportTableCallbacks& callbacks, NvtxCallbackModule module) {
  Table table;
  if (callbacks.GetModuleFunctionTable(module, &table.functions, &table.size) == 0 || table.functions == nullptr) {
    return {};
  }
  return table;
}

/// Table before the chained tool attaches. Unchanged entries are the NVTX header's initialization functions, which must
/// not be called.
template <unsigned N>
struct Snapshot {
  NvtxFunctionPointer before[N] = {};
  explicit Snapshot(const Table& table) {
    for (unsigned i = 1; i < std::min(N, table.size); ++i) {
      if (table.functions[i] != nullptr) before[i] = *table.functions[i];
    }
  }
  void keep_changed(const Table& table, NvtxFunctionPointer (&kept)[N]) const {
    for (unsigned i = 1; i < std::min(N, table.size); ++i) {
      if (table.functions[i] != nullptr && *table.functions[i] != before[i]) kept[i] = *table.functions[i];
    }
  }
};

// `chained` 0 = free. A search does not stop at a free slot: slots are freed in any order.
struct RangeIdSlot {
  std::atomic<std::uint64_t> chained;
  std::atomic<std::uint64_t> own;
};
constexpr std::size_t kRangeIdSlots = 1 << 16;
constexpr std::size_t kReach = 32;
constinit RangeIdSlot range_ids[kRangeIdSlots] = {};
std::size_t home_of(std::uint64_t id) { return (id * 0x9e3779b97f4a7c15ULL >> 48) % kRangeIdSlots; }

}  // namespace

void set_path(const char* path) {
  const std::size_t length = strnlen(path, sizeof tool_path - 1);
  std::memcpy(tool_path, path, length);
  tool_path[length] = '\0';
}
bool is_requested() { return tool_path[0] != '\0'; }

bool attach(NvtxGetExportTableFunc_t get) {
  void* const library = tool_library();
  if (library == nullptr) return false;
  auto* const initialize =
      reinterpret_cast<NvtxInitializeInjectionNvtxFunc_t>(dlsym(library, "InitializeInjectionNvtx2"));
  const auto* const callbacks = static_cast<const NvtxExportTableCallbacks*>(get(NVTX_ETID_CALLBACKS));
  if (initialize == nullptr || callbacks == nullptr) return false;
  const Table core_table = table_of(*callbacks, NVTX_CB_MODULE_CORE);
  const Table core2_table = table_of(*callbacks, NVTX_CB_MODULE_CORE2);
  const Table sync_table = table_of(*callbacks, NVTX_CB_MODULE_SYNC);
  const Snapshot<kCoreSlots> core_before(core_table);
  const Snapshot<kCore2Slots> core2_before(core2_table);
  const Snapshot<NVTX_CBID_SYNC_SIZE> sync_before(sync_table);
  if (initialize(get) == 0) return false;
  core_before.keep_changed(core_table, core);
  core2_before.keep_changed(core2_table, core2);
  NvtxFunctionPointer sync[NVTX_CBID_SYNC_SIZE] = {};
  sync_before.keep_changed(sync_table, sync);
  sync_create = sync[NVTX_CBID_SYNC_DomainSyncUserCreate];
  return true;
}

void attach_extension(nvtxExtModuleInfo_t* module) {
  void* const library = tool_library();
  if (library == nullptr || module->moduleId != NVTX_EXT_PAYLOAD_MODULEID || module->segmentsCount == 0) return;
  auto* const initialize =
      reinterpret_cast<NvtxExtInitializeInjectionFunc_t>(dlsym(library, "InitializeInjectionNvtxExtension"));
  if (initialize == nullptr || initialize(module) == 0) return;
  nvtxExtModuleSegment_t& segment = module->segments[0];
  for (std::size_t i = 0; i < std::min<std::size_t>(segment.slotCount, kPayloadSlots); ++i) {
    // Small values are states (NVTX_EXTENSION_FRESH, NVTX_EXTENSION_DISABLED), others addresses of functions.
    if (segment.functionSlots[i] > 4096) payload[i] = segment.functionSlots[i];
  }
}

nvtxEventAttributes_t for_chained_tool(const nvtxEventAttributes_t* attributes) {
  nvtxEventAttributes_t copy{};
  std::memcpy(&copy, attributes, std::min<std::size_t>(attributes->size, sizeof copy));
  if (copy.messageType == NVTX_MESSAGE_TYPE_REGISTERED && copy.message.registered != nullptr) {
    copy.message.registered = reinterpret_cast<RegisteredString*>(copy.message.registered)->chained;
  }
  return copy;
}

void map_range_id(nvtxRangeId_t chained, nvtxRangeId_t own) {
  if (chained == 0 || own == 0) return;
  for (std::size_t i = 0; i < kReach; ++i) {
    RangeIdSlot& slot = range_ids[(home_of(chained) + i) % kRangeIdSlots];
    std::uint64_t expected = 0;
    if (!slot.chained.compare_exchange_strong(expected, chained, std::memory_order_acq_rel)) continue;
    slot.own.store(own, std::memory_order_release);
    return;
  }
}

nvtxRangeId_t take_range_id(nvtxRangeId_t chained) {
  for (std::size_t i = 0; i < kReach; ++i) {
    RangeIdSlot& slot = range_ids[(home_of(chained) + i) % kRangeIdSlots];
    if (slot.chained.load(std::memory_order_acquire) != chained) continue;
    const nvtxRangeId_t own = slot.own.exchange(0, std::memory_order_acq_rel);
    std::uint64_t expected = chained;
    slot.chained.compare_exchange_strong(expected, 0, std::memory_order_release);
    return own;
  }
  return 0;
}

}  // namespace profshim::nvtx::chain
