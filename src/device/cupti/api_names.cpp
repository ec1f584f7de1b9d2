#include "api_names.h"

#include <algorithm>

#include "profshim/device/api_name.h"

namespace profshim::device {
namespace {

bool contains(std::string_view text, std::string_view part) { return text.find(part) != std::string_view::npos; }

template <std::size_t N>
bool begins_with_any(std::string_view text, const std::string_view (&prefixes)[N]) {
  return std::any_of(std::begin(prefixes), std::end(prefixes),
                     [text](std::string_view prefix) { return text.starts_with(prefix); });
}

}  // namespace

bool launches_activity(ApiRole role) {
  return role == ApiRole::kLaunch || role == ApiRole::kGraphLaunch || role == ApiRole::kCopy ||
         role == ApiRole::kSyncCopy;
}

ApiRole role_of_api(std::string_view name) {
  const bool runtime = name.starts_with("cuda");
  if (!runtime && !name.starts_with("cu")) return ApiRole::kIgnored;
  const std::string_view rest = name.substr(runtime ? 4 : 2);
  if (rest.starts_with("StreamBeginCapture")) return ApiRole::kBeginCapture;
  if (rest.starts_with("StreamEndCapture")) return ApiRole::kEndCapture;
  if (rest.starts_with("LaunchHostFunc")) return ApiRole::kOther;  // runs on the host
  if (rest.starts_with("GraphLaunch")) return ApiRole::kGraphLaunch;
  if (rest.starts_with("Launch")) return ApiRole::kLaunch;
  constexpr std::string_view kCopies[] = {"Memcpy", "Memset"};
  if (begins_with_any(rest, kCopies)) return contains(rest, "Async") ? ApiRole::kCopy : ApiRole::kSyncCopy;
  constexpr std::string_view kOthers[] = {"Malloc",          "Free",
                                          "HostAlloc",       "HostRegister",
                                          "HostUnregister",  "MemAlloc",
                                          "MemFree",         "MemCreate",
                                          "MemRelease",      "MemMap",
                                          "MemUnmap",        "MemHostAlloc",
                                          "MemHostRegister", "MemHostUnregister",
                                          "MemPrefetch",     "EventRecord",
                                          "StreamWaitEvent", "GraphInstantiate",
                                          "GraphExecUpdate", "DeviceReset"};
  if (begins_with_any(rest, kOthers)) return ApiRole::kOther;
  constexpr std::string_view kWholeDevice[] = {"DeviceSynchronize", "CtxSynchronize", "ThreadSynchronize"};
  if (begins_with_any(rest, kWholeDevice)) return ApiRole::kDeviceSync;
  if (contains(rest, "Synchronize")) return ApiRole::kOther;
  return ApiRole::kIgnored;
}

void ApiNames::load(const CuptiApi& api) {
  if (!entries_[0].empty() || !entries_[1].empty() || api.callback_name == nullptr) return;
  constexpr std::uint32_t kMostGaps = 64;
  for (const bool runtime : {false, true}) {
    std::vector<Entry>& entries = entries_[runtime ? 1 : 0];
    entries.emplace_back();  // 0 is CUPTI_..._TRACE_CBID_INVALID
    std::uint32_t gap = 0;
    for (std::uint32_t id = 1; id < kMost && gap < kMostGaps; ++id) {
      const char* name = nullptr;
      Entry entry;
      const int domain = runtime ? cupti::kRuntimeDomain : cupti::kDriverDomain;
      if (api.callback_name(domain, id, &name) == cupti::kSuccess && name != nullptr) {
        gap = 0;
        entry.name = plain_api_name(name);
        entry.role = role_of_api(entry.name);
      } else {
        ++gap;
      }
      entries.push_back(std::move(entry));
    }
  }
}

const ApiNames::Entry& ApiNames::entry_of(bool runtime, std::uint32_t callback_id) {
  std::vector<Entry>& entries = entries_[runtime ? 1 : 0];
  static const Entry& kNothing = *new Entry;
  if (callback_id >= kMost) return kNothing;
  if (callback_id >= entries.size()) entries.resize(callback_id + 1);
  Entry& entry = entries[callback_id];
  if (entry.name.empty()) {
    entry.name = (runtime ? "runtime API " : "driver API ") + std::to_string(callback_id);
    entry.role = ApiRole::kOther;
  }
  return entry;
}

}  // namespace profshim::device
