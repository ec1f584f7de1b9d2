#include "version.h"

#include <dlfcn.h>

#include <atomic>
#include <cerrno>
#include <cstring>

#include "profshim/recorder.h"
#include "profshim/recorder_control.h"
#include "profshim/trace/schema.h"

namespace profshim::nccl {
namespace {

constinit std::atomic<const void*> noted{nullptr};
constinit std::atomic<const void*> nvtx_copy{nullptr};
constinit std::atomic<bool> several_copies{false};

using GetVersion = int(int*);

/// Searches only `library_path` and its dependencies.
GetVersion* version_function(const char* library_path) {
  void* const library = dlopen(library_path, RTLD_LAZY | RTLD_NOLOAD);
  if (library == nullptr) return nullptr;
  void* const found = dlsym(library, "ncclGetVersion");
  dlclose(library);  // the job keeps it mapped
  return reinterpret_cast<GetVersion*>(found);
}

void note(const Dl_info& library) {
  if (noted.exchange(library.dli_fbase, std::memory_order_relaxed) == library.dli_fbase) return;
  GetVersion* const get = version_function(library.dli_fname);
  int code = 0;
  if (get == nullptr || get(&code) != 0) return;
  const VersionText version = version_text(code);
  if (version.text[0] == 0) return;
  char json[sizeof version.text + 2];
  std::snprintf(json, sizeof json, "\"%s\"", version.text);
  recorder::add_metadata(schema::distributed::kNcclVersion, json);
}

}  // namespace

void note_version(const void* function) {
  const int saved_errno = errno;
  Dl_info library{};
  if (function != nullptr && dladdr(function, &library) != 0 && library.dli_fname != nullptr) note(library);
  errno = saved_errno;
}

void note_nvtx_copy(const void* get) {
  Dl_info library{};
  if (dladdr(get, &library) == 0 || library.dli_fname == nullptr) return;
  const char* const slash = std::strrchr(library.dli_fname, '/');
  const char* const name = slash != nullptr ? slash + 1 : library.dli_fname;
  if (std::strncmp(name, "libnccl", 7) != 0 || (name[7] != '.' && name[7] != '-')) return;
  const void* none = nullptr;
  if (!nvtx_copy.compare_exchange_strong(none, get) && none != get) several_copies.store(true);
}

void note_version_by_nvtx() {
  if (!several_copies.load(std::memory_order_relaxed)) note_version(nvtx_copy.load(std::memory_order_relaxed));
}

}  // namespace profshim::nccl
