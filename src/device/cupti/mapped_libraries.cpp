#include "mapped_libraries.h"

#include <dlfcn.h>
#include <link.h>

#include <algorithm>

#include "profshim/base/threads/loader_lock.h"

namespace profshim::device {
namespace {

std::string base_name(const std::string& path) { return path.substr(path.rfind('/') + 1); }

template <class Function>
Function in_mapped(std::string_view library, const char* symbol) {
  const std::string path = find_library(mapped_libraries(), library);
  if (path.empty()) return nullptr;
  void* const handle = dlopen(path.c_str(), RTLD_LAZY | RTLD_NOLOAD);
  if (handle == nullptr) return nullptr;
  void* const address = dlsym(handle, symbol);
  dlclose(handle);
  return reinterpret_cast<Function>(address);
}

}  // namespace

// Only collects paths: dl_iterate_phdr() holds dlopen()'s lock during callbacks.
std::vector<std::string> mapped_libraries() {
  std::vector<std::string> paths;
  visit_loaded_files(
      [](dl_phdr_info* info, std::size_t, void* list) {
        if (info->dlpi_name != nullptr && info->dlpi_name[0] != 0) {
          static_cast<std::vector<std::string>*>(list)->emplace_back(info->dlpi_name);
        }
        return 0;
      },
      &paths);
  return paths;
}

// Wheels repaired by auditwheel have names such as libcupti-1a2b3c.so.12.
std::string find_library(const std::vector<std::string>& libraries, std::string_view prefix) {
  const auto found = std::find_if(libraries.begin(), libraries.end(), [prefix](const std::string& path) {
    const std::string name = base_name(path);
    return name.starts_with(prefix) && name.find(".so") != std::string::npos &&
           (name.size() == prefix.size() || name[prefix.size()] == '.' || name[prefix.size()] == '-');
  });
  return found == libraries.end() ? std::string() : *found;
}

std::string wait_for_devices() {
  const auto init = in_mapped<int (*)(unsigned)>("libcuda", "cuInit");
  const auto count = in_mapped<int (*)(int*)>("libcuda", "cuDeviceGetCount");
  if (init == nullptr || count == nullptr) return "libcuda is not loaded or lacks cuInit";
  int devices = 0;
  const char* function = "cuInit";
  int result = init(0);
  if (result == 0) {
    function = "cuDeviceGetCount";
    result = count(&devices);
  }
  if (result == 0) return devices > 0 ? std::string() : std::string("the CUDA driver finds no GPU");
  const auto name = in_mapped<int (*)(int, const char**)>("libcuda", "cuGetErrorName");
  const char* text = nullptr;
  if (name == nullptr || name(result, &text) != 0 || text == nullptr) text = "an error";
  return std::string(function) + " ended with " + text + " (" + std::to_string(result) + ")";
}

bool runtime_is_mapped() { return !find_library(mapped_libraries(), "libcudart").empty(); }

bool torch_is_mapped() { return !find_library(mapped_libraries(), "libtorch_cuda").empty(); }

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
