#include "find_cupti.h"

#include <dlfcn.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "mapped_libraries.h"
#include "profshim/base/files.h"
#include "profshim/base/text/message_text.h"
#include "profshim/base/threads/loader_lock.h"

namespace profshim::device {
namespace {

std::string folder_of(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  return slash == std::string::npos ? std::string(".") : path.substr(0, slash);
}

void* try_open(const std::string& path, FoundCupti& found) {
  const ForksWait until_it_is_loaded;
  void* const handle = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle != nullptr) found.path = path;
  return handle;
}

std::string dl_error() {
  const std::string error = loader_error_text();
  return error.empty() ? "unknown error" : error;
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
    for (std::string& path : files_newest_first(pattern)) paths.push_back(std::move(path));
  };
  if (const std::string cudart = find_library(libraries, "libcudart"); !cudart.empty()) {
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
      for (std::string& path : files_newest_first(root + folder + "/libcupti.so.*")) paths.push_back(std::move(path));
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
  if (const std::string path = find_library(libraries, "libcupti"); !path.empty()) {
    found.path = path;
    void* const handle = dlopen(path.c_str(), RTLD_LAZY | RTLD_NOLOAD);
    if (handle == nullptr) found.problem = "the job's CUPTI cannot be used: " + dl_error();
    return handle;
  }
  if (const char* const wanted = std::getenv("PROFSHIM_CUPTI"); wanted != nullptr && *wanted != 0) {
    void* const handle = try_open(wanted, found);
    if (handle == nullptr) found.problem = "PROFSHIM_CUPTI cannot be opened: " + dl_error();
    return handle;
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

FoundCupti find_cupti() {
  FoundCupti found;
  void* const handle = open_library(found);
  if (handle == nullptr) {
    if (found.problem.empty()) found.problem = "no libcupti was found: set PROFSHIM_CUPTI=/path/libcupti.so";
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
  if (!found.api.usable())
    found.problem = found.path + " lacks functions of CUPTI's activity API (install CUPTI 11.8 or later)";
  return found;
}

}  // namespace profshim::device
