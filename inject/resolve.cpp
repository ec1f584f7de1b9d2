#include "resolve.h"

#include <dlfcn.h>
#include <link.h>

#include <cstring>

namespace profshim::inject {
namespace {

// File names of the libraries that implement a layer. Prefixes: repaired wheels carry a hash in the name.
constexpr const char* kMpiLibraries[] = {"libmpi.so",      "libmpich.so",         "libmpi_abi.so",
                                         "libmpi_cray.so", "libmpi_mpifh.so",     "libmpichfort.so",
                                         "libmpifort.so",  "libmpi_usempif08.so", "libmpi_usempi_ignore_tkr.so"};

bool belongs(const char* path, Layer layer) {
  if (layer != Layer::kMpi) return false;
  const char* const slash = std::strrchr(path, '/');
  const char* const name = slash != nullptr ? slash + 1 : path;
  for (const char* library : kMpiLibraries) {
    if (std::strncmp(name, library, std::strlen(library)) == 0) return true;
  }
  // Repaired wheels: libmpi-1a2b3c.so.40
  return std::strncmp(name, "libmpi-", 7) == 0 || std::strncmp(name, "libmpich-", 9) == 0;
}

struct Search {
  const char* name;
  Layer layer;
  void* found;
};

int look_into(dl_phdr_info* info, std::size_t, void* argument) {
  auto& search = *static_cast<Search*>(argument);
  if (info->dlpi_name == nullptr || !belongs(info->dlpi_name, search.layer)) return 0;
  void* const library = dlopen(info->dlpi_name, RTLD_LAZY | RTLD_NOLOAD);
  if (library == nullptr) return 0;
  search.found = dlsym(library, search.name);
  dlclose(library);
  return search.found != nullptr ? 1 : 0;
}

void* in_mapped_libraries(const char* name, Layer layer) {
  Search search{name, layer, nullptr};
  dl_iterate_phdr(look_into, &search);
  return search.found;
}

}  // namespace

void* resolve(const char* name, Layer layer) {
  if (void* const next = dlsym(RTLD_NEXT, name)) return next;
  return in_mapped_libraries(name, layer);
}

void* resolve_data(const char* name, Layer layer) {
  if (void* const first = dlsym(RTLD_DEFAULT, name)) return first;
  return in_mapped_libraries(name, layer);
}

}  // namespace profshim::inject
