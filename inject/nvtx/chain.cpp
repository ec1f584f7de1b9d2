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

constinit char foreign_path[PATH_MAX] = {};

void* foreign_library() {
  static void* const library = dlopen(foreign_path, RTLD_LAZY | RTLD_LOCAL);
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

/// What stands in a table before the other tool has run: the header's own start-up functions, never to be called.
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

// Range ids: an open-addressed table. A slot is free while its key is 0; a search looks at the whole neighbourhood.
struct Tie {
  std::atomic<std::uint64_t> theirs;
  std::atomic<std::uint64_t> ours;
};
constexpr std::size_t kTies = 1 << 16;
constexpr std::size_t kNeighbourhood = 32;
constinit Tie ties[kTies] = {};
std::size_t home_of(std::uint64_t id) { return (id * 0x9e3779b97f4a7c15ULL >> 48) % kTies; }

}  // namespace

void set_path(const char* path) {
  const std::size_t length = strnlen(path, sizeof foreign_path - 1);
  std::memcpy(foreign_path, path, length);
  foreign_path[length] = '\0';
}
bool wanted() { return foreign_path[0] != '\0'; }

bool attach(NvtxGetExportTableFunc_t get) {
  void* const library = foreign_library();
  if (library == nullptr) return false;
  auto* const initialise =
      reinterpret_cast<NvtxInitializeInjectionNvtxFunc_t>(dlsym(library, "InitializeInjectionNvtx2"));
  const auto* const callbacks = static_cast<const NvtxExportTableCallbacks*>(get(NVTX_ETID_CALLBACKS));
  if (initialise == nullptr || callbacks == nullptr) return false;
  const Table core_table = table_of(*callbacks, NVTX_CB_MODULE_CORE);
  const Table core2_table = table_of(*callbacks, NVTX_CB_MODULE_CORE2);
  const Table sync_table = table_of(*callbacks, NVTX_CB_MODULE_SYNC);
  const Snapshot<kCoreSlots> core_before(core_table);
  const Snapshot<kCore2Slots> core2_before(core2_table);
  const Snapshot<NVTX_CBID_SYNC_SIZE> sync_before(sync_table);
  if (initialise(get) == 0) return false;
  core_before.keep_changed(core_table, core);
  core2_before.keep_changed(core2_table, core2);
  NvtxFunctionPointer sync[NVTX_CBID_SYNC_SIZE] = {};
  sync_before.keep_changed(sync_table, sync);
  sync_create = sync[NVTX_CBID_SYNC_DomainSyncUserCreate];
  return true;
}

void attach_extension(nvtxExtModuleInfo_t* module) {
  void* const library = foreign_library();
  if (library == nullptr || module->moduleId != NVTX_EXT_PAYLOAD_MODULEID || module->segmentsCount == 0) return;
  auto* const initialise =
      reinterpret_cast<NvtxExtInitializeInjectionFunc_t>(dlsym(library, "InitializeInjectionNvtxExtension"));
  if (initialise == nullptr || initialise(module) == 0) return;
  nvtxExtModuleSegment_t& segment = module->segments[0];
  for (std::size_t i = 0; i < std::min<std::size_t>(segment.slotCount, kPayloadSlots); ++i) {
    // 0 = not initialised, -1 and the like = disabled: only an address is a function.
    if (segment.functionSlots[i] > 4096) payload[i] = segment.functionSlots[i];
  }
}

nvtxEventAttributes_t translated(const nvtxEventAttributes_t* attributes) {
  nvtxEventAttributes_t copy{};
  std::memcpy(&copy, attributes, std::min<std::size_t>(attributes->size, sizeof copy));
  if (copy.messageType == NVTX_MESSAGE_TYPE_REGISTERED && copy.message.registered != nullptr) {
    copy.message.registered = reinterpret_cast<RegisteredString*>(copy.message.registered)->theirs;
  }
  return copy;
}

void tie(nvtxRangeId_t theirs, nvtxRangeId_t ours) {
  if (theirs == 0 || ours == 0) return;
  for (std::size_t i = 0; i < kNeighbourhood; ++i) {
    Tie& slot = ties[(home_of(theirs) + i) % kTies];
    std::uint64_t expected = 0;
    if (!slot.theirs.compare_exchange_strong(expected, theirs, std::memory_order_acq_rel)) continue;
    slot.ours.store(ours, std::memory_order_release);
    return;
  }
}

nvtxRangeId_t untie(nvtxRangeId_t theirs) {
  for (std::size_t i = 0; i < kNeighbourhood; ++i) {
    Tie& slot = ties[(home_of(theirs) + i) % kTies];
    if (slot.theirs.load(std::memory_order_acquire) != theirs) continue;
    const nvtxRangeId_t ours = slot.ours.exchange(0, std::memory_order_acq_rel);
    std::uint64_t expected = theirs;
    slot.theirs.compare_exchange_strong(expected, 0, std::memory_order_release);
    return ours;
  }
  return 0;
}

}  // namespace profshim::nvtx::chain
