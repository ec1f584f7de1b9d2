#include <dlfcn.h>
#include <link.h>
#include <strings.h>
#include <unistd.h>

#include <cerrno>
#include <climits>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>

#include "inject/core/loader/resolve.h"
#include "inject/nccl/abi.h"
#include "inject/nccl/profiler.h"
#include "profshim/base/text/ascii.h"
#include "profshim/recorder.h"
#include "profshim/session.h"

namespace profshim::nccl::profiler {
namespace {

constexpr char kVariable[] = "NCCL_PROFILER_PLUGIN", kReserved[] = "PROFSHIM_NCCL_PLUGIN";
static_assert(sizeof kVariable == sizeof kReserved);
constexpr std::size_t kReservedLength = sizeof kReserved - 1;
/// First NCCL_VERSION_CODE with interface v4, first that searches the network plugin.
constexpr int kFirstVersion = 22700, kSearchesNetworkPlugin = 22800;
/// NCCL truncates longer plugin names (MAX_STR_LEN in plugin_open.cc).
constexpr std::size_t kMaxPath = 253;

/// NCCL truncates longer values in files (setEnvFile() in param.cc).
using Value = char[1024];

/// Environment entry "PROFSHIM_NCCL_PLUGIN=<own path>". offer() only renames it: setenv() may free the array
/// `environ` while another thread is in getenv().
char entry[kReservedLength + 1 + PATH_MAX] = {};

const char* own_path() { return entry + kReservedLength + 1; }

bool value_in_file(const char* path, const char* name, Value& value) {
  const std::unique_ptr<FILE, int (*)(FILE*)> file(std::fopen(path, "re"), std::fclose);
  char line[4096];
  while (file != nullptr && std::fgets(line, sizeof line, file.get()) != nullptr) {
    const std::size_t length = std::strlen(name);
    if (std::strncmp(line, name, length) != 0 || line[length] != '=') continue;
    line[std::strcspn(line, "\r\n")] = 0;
    std::snprintf(value, sizeof value, "%s", line + length + 1);
    return true;
  }
  return false;
}

/// Searches where NCCL does. "" = not set.
void read_variable(const char* name, Value& value) {
  value[0] = 0;
  if (const char* const set = std::getenv(name)) {
    std::snprintf(value, sizeof value, "%s", set);
    return;
  }
  const char* const file = std::getenv("NCCL_CONF_FILE");
  const char* const home = std::getenv("HOME");
  char in_home[PATH_MAX];
  std::snprintf(in_home, sizeof in_home, "%s/.nccl.conf", home != nullptr ? home : "");
  if (!value_in_file(file != nullptr && *file != 0 ? file : in_home, name, value)) {
    value_in_file("/etc/nccl.conf", name, value);
  }
}

void* open_in_runpath(const void* function, const char* library) {
  Dl_info info{};
  if (function == nullptr || dladdr(function, &info) == 0) return nullptr;
  void* const owner = dlopen(info.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
  if (owner == nullptr) return nullptr;
  void* found = nullptr;
  Dl_serinfo size{};
  if (dlinfo(owner, RTLD_DI_SERINFOSIZE, &size) == 0) {
    const std::unique_ptr<void, void (*)(void*)> memory(std::calloc(1, size.dls_size), std::free);
    auto* const places = static_cast<Dl_serinfo*>(memory.get());
    if (places != nullptr) *places = size;
    if (places != nullptr && dlinfo(owner, RTLD_DI_SERINFO, places) == 0) {
      for (unsigned i = 0; i < places->dls_cnt && found == nullptr; ++i) {
        char path[PATH_MAX];
        std::snprintf(path, sizeof path, "%s/%s", places->dls_serpath[i].dls_name, library);
        if (access(path, R_OK) == 0) found = dlopen(path, RTLD_NOW | RTLD_LOCAL);
      }
    }
  }
  dlclose(owner);
  return found;
}

/// The plugin stays open, so that NCCL's own dlopen() does not load it a second time.
void* open_plugin(const void* nccl, const char* name) {
  const bool is_process = ascii::equal_words(name, "STATIC_PLUGIN");
  void* const library = dlopen(is_process ? nullptr : name, RTLD_NOW | RTLD_LOCAL);
  return library != nullptr || std::strchr(name, '/') != nullptr ? library : open_in_runpath(nccl, name);
}

bool has_profiler(void* library) {
  for (const char* const name : {"ncclProfiler_v1", "ncclProfiler_v2", "ncclProfiler_v3", "ncclProfiler_v4",
                                 "ncclProfiler_v5", "ncclProfiler_v6", "ncclProfiler_v7", "ncclProfiler_v8"}) {
    if (library != nullptr && dlsym(library, name) != nullptr) return true;
  }
  return false;
}

bool is_network_plugin_profiler(const void* nccl) {
  Value names;
  read_variable("NCCL_NET_PLUGIN", names);
  if (names[0] == 0) return has_profiler(open_plugin(nccl, "libnccl-net.so"));
  char* rest = nullptr;
  for (const char* name = strtok_r(names, ",", &rest); name != nullptr; name = strtok_r(nullptr, ",", &rest)) {
    if (std::strcmp(name, "none") == 0) continue;
    char library[sizeof names + 32];
    std::snprintf(library, sizeof library, "libnccl-net-%s.so", name);
    void* const opened = open_plugin(nccl, name);
    if (has_profiler(opened != nullptr ? opened : open_plugin(nccl, library))) return true;
  }
  return false;
}

[[gnu::format(printf, 1, 2)]] void report_unavailable(const char* why, ...) {
  char sentence[sizeof(Value) + 128] = "algorithm, protocol and channels of NCCL's operations are not recorded: ";
  const std::size_t used = std::strlen(sentence);
  va_list arguments;
  va_start(arguments, why);
  std::vsnprintf(sentence + used, sizeof sentence - used, why, arguments);
  va_end(arguments);
  recorder::problem("nccl", sentence);
}

bool is_own_path(const char* path) {
  char resolved[PATH_MAX];
  return realpath(path, resolved) != nullptr && std::strcmp(resolved, own_path()) == 0;
}

bool can_offer() {
  const void* const nccl = inject::resolve("ncclGetVersion", Layer::kNccl);  // null if linked statically
  int version = 0;
  if (nccl != nullptr) reinterpret_cast<int (*)(int*)>(reinterpret_cast<std::uintptr_t>(nccl))(&version);
  if (version != 0 && version < kFirstVersion) {
    report_unavailable("NCCL %d.%d is too old, use NCCL 2.27 or later", version / 10000, version / 100 % 100);
  } else if (std::getenv(kReserved) != own_path()) {
    report_unavailable(
        "the program has removed or replaced the environment variable PROFSHIM_NCCL_PLUGIN, which profshim needs");
  } else if (std::strlen(own_path()) > kMaxPath) {
    report_unavailable(
        "the path of libprofshim.so is longer than the 253 bytes that NCCL accepts (install profshim under a shorter "
        "path)");
  } else if (open_plugin(nccl, "libnccl-profiler.so") != nullptr) {
    report_unavailable(
        "NCCL loads the job's profiler plugin libnccl-profiler.so (NCCL_PROFILER_PLUGIN=PATH/libprofshim.so selects "
        "profshim)");
  } else if ((version == 0 || version >= kSearchesNetworkPlugin) && is_network_plugin_profiler(nccl)) {
    report_unavailable(
        "NCCL uses the job's network plugin as its profiler plugin (NCCL_PROFILER_PLUGIN=PATH/libprofshim.so selects "
        "profshim)");
  } else {
    return true;
  }
  return false;
}

void decide() {
  Value set;
  read_variable(kVariable, set);
  if (set[0] == 0) {
    if (!can_offer()) return;
  } else if (!is_own_path(set)) {
    return report_unavailable("NCCL_PROFILER_PLUGIN is set to %s (remove it from the environment or nccl.conf)", set);
  }
  detail::offered.store(true, std::memory_order_relaxed);  // read by this thread and by threads that NCCL starts later
  if (set[0] == 0) std::memcpy(entry, kVariable, kReservedLength);
}

constinit std::atomic<bool> decided{false};

}  // namespace

void reserve_variable(const char* own_path) {
  // If NCCL_PROFILER_PLUGIN is set, perhaps by a recording parent process, `entry` serves own_path() only.
  const bool is_set = std::getenv(kVariable) != nullptr;
  std::snprintf(entry, sizeof entry, "%s=%s", kReserved, own_path);
  if (!is_set) putenv(entry);
}

void offer() {
  if (recorder::mode() == 0 || decided.load(std::memory_order_relaxed)) return;
  const Spec* const spec = session::spec();
  if (spec == nullptr || decided.exchange(true, std::memory_order_relaxed)) return;
  if (!spec->nccl_profiler || !spec->activities.nccl) return;
  const int saved_errno = errno;
  decide();
  errno = saved_errno;
}

void check_loaded() {
  if (!detail::offered.load(std::memory_order_relaxed) || detail::loaded.exchange(true, std::memory_order_relaxed)) {
    return;
  }
  report_unavailable("NCCL did not load profshim as its profiler plugin (set NCCL_DEBUG=INFO to see why)");
}

}  // namespace profshim::nccl::profiler
