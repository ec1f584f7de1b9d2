// Each library that uses NVTX v3 contains a copy of NVTX, which at its first call opens the library that
// NVTX_INJECTION64_PATH names. The older libnvToolsExt.so.1 does the same.
#include "injection.h"

#include <dlfcn.h>

#include <algorithm>
#include <atomic>
#include <climits>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <span>

#include "callbacks.h"
#include "chain.h"
#include "inject/nccl/version.h"
#include "profshim/recorder.h"
#include "profshim/session.h"
#include "profshim/spec.h"
#include "ranges.h"

namespace profshim::nvtx {
namespace {

void install(const NvtxExportTableCallbacks& tables, NvtxCallbackModule module, std::span<const Callback> callbacks) {
  NvtxFunctionTable table = nullptr;
  unsigned size = 0;
  if (tables.GetModuleFunctionTable(module, &table, &size) == 0 || table == nullptr) return;
  for (const Callback& callback : callbacks) {
    if (callback.slot < size && table[callback.slot] != nullptr) *table[callback.slot] = callback.function;
  }
}

bool attach(NvtxGetExportTableFunc_t get) {
  const auto* const tables = static_cast<const NvtxExportTableCallbacks*>(get(NVTX_ETID_CALLBACKS));
  if (tables == nullptr || tables->struct_size < sizeof *tables) return false;
  nccl::note_nvtx_copy(reinterpret_cast<const void*>(get));
  if (chain::is_requested()) chain::attach(get);
  install(*tables, NVTX_CB_MODULE_CORE, core_range_callbacks());
  install(*tables, NVTX_CB_MODULE_CORE, core_name_callbacks());
  install(*tables, NVTX_CB_MODULE_CORE2, core2_range_callbacks());
  install(*tables, NVTX_CB_MODULE_CORE2, core2_name_callbacks());
  if (chain::sync_create != nullptr) install(*tables, NVTX_CB_MODULE_SYNC, sync_callbacks());
  // libnvToolsExt has no version table.
  const auto* const version = static_cast<const NvtxExportTableVersionInfo*>(get(NVTX_ETID_VERSIONINFO));
  if (version != nullptr && version->struct_size >= sizeof *version && version->SetInjectionNvtxVersion != nullptr) {
    version->SetInjectionNvtxVersion(NVTX_VERSION);
  }
  return true;
}

bool attach_extension(nvtxExtModuleInfo_t* module) {
  if (module == nullptr || module->moduleId != NVTX_EXT_PAYLOAD_MODULEID || module->segmentsCount == 0) return false;
  if (chain::is_requested()) chain::attach_extension(module);
  const nvtxExtModuleSegment_t& segment = module->segments[0];
  for (const Callback& callback : payload_callbacks()) {
    if (callback.slot < segment.slotCount) {
      segment.functionSlots[callback.slot] = reinterpret_cast<std::intptr_t>(callback.function);
    }
  }
  return true;
}

/// Path of the tool that gets the NVTX calls instead of profshim; "" = none.
constinit char other_tool[PATH_MAX] = {};

}  // namespace

void set_injection_path(const char* own_path) {
  const char* const set = std::getenv("NVTX_INJECTION64_PATH");
  if (set != nullptr && set[0] != '\0') {
    char resolved[PATH_MAX];
    const char* const chained = std::getenv("PROFSHIM_NVTX_CHAIN");
    if (std::strcmp(realpath(set, resolved) != nullptr ? resolved : set, own_path) == 0) {
      // A parent (such as mpirun) has set our path, and left the tool's in PROFSHIM_NVTX_CHAIN.
      if (chained != nullptr && chained[0] == '/') chain::set_path(chained);
      return;
    }
    if (chained == nullptr || (std::strcmp(chained, "1") != 0 && std::strcmp(chained, set) != 0)) {
      std::strncpy(other_tool, set, sizeof other_tool - 1);
      return;
    }
    chain::set_path(set);
    setenv("PROFSHIM_NVTX_CHAIN", set, 1);
  }
  setenv("NVTX_INJECTION64_PATH", own_path, 1);
}

void on_activate() {
  session::measure_cost_with(Layer::kNvtx, range_cost);
  const Spec* const spec = session::spec();
  if (other_tool[0] == '\0' || spec == nullptr) return;
  if (!spec->activities.nvtx && spec->steps.source != StepSource::kNvtx) return;
  char text[PATH_MAX + 128];
  std::snprintf(text, sizeof text,
                "NVTX ranges are not recorded: NVTX_INJECTION64_PATH names another tool, %s (set "
                "PROFSHIM_NVTX_CHAIN=1 to give the calls to both)",
                other_tool);
  recorder::missing("nvtx", text);
}

}  // namespace profshim::nvtx

// Each NVTX copy calls these functions once, on the thread of its first call.
extern "C" [[gnu::visibility("default")]] int InitializeInjectionNvtx2(NvtxGetExportTableFunc_t get) {
  return get != nullptr && profshim::nvtx::attach(get) ? 1 : 0;
}
extern "C" [[gnu::visibility("default")]] int InitializeInjectionNvtxExtension(nvtxExtModuleInfo_t* module) {
  return profshim::nvtx::attach_extension(module) ? 1 : 0;
}
