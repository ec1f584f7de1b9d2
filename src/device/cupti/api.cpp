#include "api.h"

#include <dlfcn.h>
#include <glob.h>
#include <link.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <vector>

namespace profshim::device {
namespace {

std::string base_name(const std::string& path) { return path.substr(path.rfind('/') + 1); }
std::string folder_of(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  return slash == std::string::npos ? std::string(".") : path.substr(0, slash);
}

// Collect paths before dlopen(), whose lock dl_iterate_phdr() holds during callbacks.
std::vector<std::string> mapped_libraries() {
  std::vector<std::string> paths;
  dl_iterate_phdr(
      [](dl_phdr_info* info, std::size_t, void* list) {
        if (info->dlpi_name != nullptr && info->dlpi_name[0] != 0) {
          static_cast<std::vector<std::string>*>(list)->emplace_back(info->dlpi_name);
        }
        return 0;
      },
      &paths);
  return paths;
}

// Repaired wheels have a hash in the name (libcupti-1a2b3c.so.12).
std::string mapped(const std::vector<std::string>& libraries, std::string_view prefix) {
  const auto found = std::find_if(libraries.begin(), libraries.end(), [prefix](const std::string& path) {
    const std::string name = base_name(path);
    return name.starts_with(prefix) && name.find(".so") != std::string::npos &&
           (name.size() == prefix.size() || name[prefix.size()] == '.' || name[prefix.size()] == '-');
  });
  return found == libraries.end() ? std::string() : *found;
}

template <class Function>
Function in_mapped(std::string_view library, const char* symbol) {
  const std::string path = mapped(mapped_libraries(), library);
  if (path.empty()) return nullptr;
  void* const handle = dlopen(path.c_str(), RTLD_LAZY | RTLD_NOLOAD);
  if (handle == nullptr) return nullptr;
  void* const address = dlsym(handle, symbol);
  dlclose(handle);  // the process's reference keeps it
  return reinterpret_cast<Function>(address);
}

std::vector<std::string> matching(const std::string& pattern) {
  std::vector<std::string> paths;
  glob_t found{};
  if (glob(pattern.c_str(), 0, nullptr, &found) == 0) paths.assign(found.gl_pathv, found.gl_pathv + found.gl_pathc);
  globfree(&found);
  // Newest version first.
  std::sort(paths.rbegin(), paths.rend());
  return paths;
}

void* try_open(const std::string& path, FoundCupti& found) {
  void* const handle = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle != nullptr) found.path = path;
  return handle;
}

void* open_by_soname(FoundCupti& found) {
  constexpr int kNewest = 13, kOldest = 11;
  const int driver = driver_version() / 1000;
  for (int major = driver >= kOldest ? std::min(driver, kNewest) : kNewest; major >= kOldest; --major) {
    const std::string name = "libcupti.so." + std::to_string(major);
    if (major > kOldest) {
      if (void* const handle = try_open(name, found)) return handle;
      continue;
    }
    for (const char* minor : {".8", ".7", ".6", ".5", ".4", ".3", ".2", ".1", ".0"}) {
      if (void* const handle = try_open(name + minor, found)) return handle;
    }
  }
  return nullptr;
}

std::vector<std::string> in_folders(const std::vector<std::string>& libraries) {
  std::vector<std::string> paths;
  const auto add = [&paths](const std::string& pattern) {
    for (std::string& path : matching(pattern)) paths.push_back(std::move(path));
  };
  if (const std::string cudart = mapped(libraries, "libcudart"); !cudart.empty()) {
    const std::string folder = folder_of(cudart);
    add(folder + "/../../cuda_cupti/lib/libcupti.so.*");  // wheels of CUDA 11 and 12
    add(folder + "/libcupti.so.*");                       // wheels of CUDA 13, conda
    add(folder + "/../extras/CUPTI/lib64/libcupti.so.*");
  }
  return paths;
}

std::vector<std::string> in_toolkits() {
  std::vector<std::string> paths;
  const auto add = [&paths](const std::string& root) {
    for (const char* folder : {"/extras/CUPTI/lib64", "/lib64"}) {
      for (std::string& path : matching(root + folder + "/libcupti.so.*")) paths.push_back(std::move(path));
    }
  };
  for (const char* variable : {"CUDA_HOME", "CUDA_PATH"}) {
    if (const char* const root = std::getenv(variable); root != nullptr && *root == '/') add(root);
  }
  add("/usr/local/cuda");
  add("/usr/local/cuda-*");
  return paths;
}

void* open_library(FoundCupti& found) {
  const std::vector<std::string> libraries = mapped_libraries();
  if (const std::string path = mapped(libraries, "libcupti"); !path.empty()) {
    found.path = path;
    return dlopen(path.c_str(), RTLD_LAZY | RTLD_NOLOAD);
  }
  if (const char* const wanted = std::getenv("PROFSHIM_CUPTI"); wanted != nullptr && *wanted != 0) {
    // No other library is tried: the user is told.
    return try_open(wanted, found);
  }
  for (const std::string& path : in_folders(libraries)) {
    if (void* const handle = try_open(path, found)) return handle;
  }
  if (void* const handle = open_by_soname(found)) return handle;
  for (const std::string& path : in_toolkits()) {
    if (void* const handle = try_open(path, found)) return handle;
  }
  return nullptr;
}

}  // namespace

std::string CuptiApi::text_of(int result) const {
  const char* name = nullptr;
  const bool named = result_string != nullptr && result_string(result, &name) == cupti::kSuccess && name != nullptr;
  const std::string text = named ? name : "CUPTI error " + std::to_string(result);
  switch (result) {
    case cupti::kInsufficientPrivileges:
    case cupti::kVirtualInsufficientPrivileges:
      return text +
             ": this machine allows profiling to administrators only (NVreg_RestrictProfilingToAdminUsers=0 "
             "or, in a container, CAP_SYS_ADMIN changes that)";
    case cupti::kMultipleSubscribers:
      return text + ": Nsight, cuda-gdb or another copy of CUPTI, linked into the program, uses the driver";
    case cupti::kUnknown:
      return text + ": the driver may be older than this CUPTI (it supports CUDA " +
             std::to_string(driver_version() / 1000) + "." + std::to_string(driver_version() % 1000 / 10) + ")";
    case cupti::kNotCompatible:
      return text + ": another client uses the other form of CUPTI's activity API";
    default:
      return text;
  }
}

bool CuptiApi::has_subscriber_api() const {
#define PROFSHIM_CUPTI_IS_THERE(member, symbol, ...) &&member != nullptr
  return true PROFSHIM_CUPTI_SUBSCRIBER_FUNCTIONS(PROFSHIM_CUPTI_IS_THERE);
#undef PROFSHIM_CUPTI_IS_THERE
}

FoundCupti find_cupti() {
  FoundCupti found;
  void* const handle = open_library(found);
  if (handle == nullptr) {
    const char* const wanted = std::getenv("PROFSHIM_CUPTI");
    found.problem = wanted != nullptr && *wanted != 0
                        ? "PROFSHIM_CUPTI = " + std::string(wanted) + " cannot be opened"
                        : std::string("no libcupti was found; PROFSHIM_CUPTI=/path/libcupti.so names one");
    return found;
  }
#define PROFSHIM_CUPTI_LOOK_UP(member, symbol, ...) \
  found.api.member = reinterpret_cast<decltype(found.api.member)>(dlsym(handle, #symbol));
  PROFSHIM_CUPTI_FUNCTIONS(PROFSHIM_CUPTI_LOOK_UP)
#undef PROFSHIM_CUPTI_LOOK_UP
  std::uint32_t version = 0;
  if (found.api.get_version != nullptr) found.api.get_version(&version);
  found.api.subscribers_share = found.api.has_subscriber_api() && version >= cupti::kSubscribersShare &&
                                driver_version() >= cupti::kDriverOfSubscribers;
  if (!found.api.usable()) found.problem = found.path + " lacks functions of the activity API";
  return found;
}

// A second cuInit waits for the first and returns its result.
std::string wait_for_devices() {
  const auto init = in_mapped<int (*)(unsigned)>("libcuda", "cuInit");
  const auto count = in_mapped<int (*)(int*)>("libcuda", "cuDeviceGetCount");
  if (init == nullptr || count == nullptr) return "libcuda has no cuInit";
  int devices = 0;
  int result = init(0);
  if (result == 0) result = count(&devices);
  if (result == 0) return devices > 0 ? std::string() : std::string("the driver has no device");
  const auto name = in_mapped<int (*)(int, const char**)>("libcuda", "cuGetErrorName");
  const char* text = nullptr;
  if (name == nullptr || name(result, &text) != 0 || text == nullptr) text = "an error";
  return "cuInit ended with " + std::string(text) + " (" + std::to_string(result) + ")";
}

bool runtime_is_mapped() { return !mapped(mapped_libraries(), "libcudart").empty(); }

bool torch_is_mapped() { return !mapped(mapped_libraries(), "libtorch_cuda").empty(); }

bool a_context_exists() {
  const auto count = in_mapped<int (*)(int*)>("libcuda", "cuDeviceGetCount");
  const auto state = in_mapped<int (*)(int, unsigned*, int*)>("libcuda", "cuDevicePrimaryCtxGetState");
  if (count == nullptr || state == nullptr) return true;
  int devices = 0;
  if (count(&devices) != 0) return true;
  for (int device = 0; device < devices; ++device) {
    unsigned flags = 0;
    int active = 0;
    if (state(device, &flags, &active) != 0 || active != 0) return true;
  }
  return false;
}

int driver_version() {
  int version = 0;
  const auto ask = in_mapped<int (*)(int*)>("libcuda", "cuDriverGetVersion");
  return ask != nullptr && ask(&version) == 0 ? version : 0;
}

int runtime_version() {
  int version = 0;
  const auto ask = in_mapped<int (*)(int*)>("libcudart", "cudaRuntimeGetVersion");
  return ask != nullptr && ask(&version) == 0 ? version : 0;
}

int device_attribute(int attribute, int device) {
  int value = -1;
  const auto ask = in_mapped<int (*)(int*, int, int)>("libcuda", "cuDeviceGetAttribute");
  return ask != nullptr && ask(&value, attribute, device) == 0 ? value : -1;
}

}  // namespace profshim::device
