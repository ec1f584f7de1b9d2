#include "resolve.h"

#include <dlfcn.h>
#include <link.h>
#include <sys/mman.h>

#include <algorithm>
#include <climits>
#include <cstring>
#include <new>

#include "profshim/base/threads/loader_lock.h"
#include "real_dlsym.h"

namespace profshim::inject {
namespace {

// Prefixes of file names; auditwheel adds a hash: libmpi-1a2b3c.so.40.
constexpr const char* kMpiLibraries[] = {"libmpi.so",      "libmpich.so", "libmpi_abi.so",
                                         "libmpi_cray.so", "libmpi-",     "libmpich-"};
constexpr const char* kFortranMpiLibraries[] = {"libmpi_mpifh.so", "libmpichfort.so", "libmpifort.so",
                                                "libmpi_usempif08.so", "libmpi_usempi_ignore_tkr.so"};

const char* file_name(const char* path) {
  const char* const slash = std::strrchr(path, '/');
  return slash != nullptr ? slash + 1 : path;
}

template <std::size_t N>
bool begins_with_any(const char* name, const char* const (&beginnings)[N]) {
  return std::any_of(beginnings, beginnings + N, [name](const char* beginning) {
    return std::strncmp(name, beginning, std::strlen(beginning)) == 0;
  });
}

constexpr std::size_t kMaxLibraries = 16;
struct Found {
  Layer layer;  // kNone: all libraries
  std::size_t skip = 0;
  std::size_t count = 0;
  char paths[kMaxLibraries][PATH_MAX];
};

int note_library(dl_phdr_info* info, std::size_t, void* argument) {
  auto& found = *static_cast<Found*>(argument);
  if (info->dlpi_name == nullptr || *info->dlpi_name == 0) return 0;
  if (found.layer != Layer::kNone && !belongs(info->dlpi_name, found.layer)) return 0;
  if (found.skip > 0) {
    --found.skip;
    return 0;
  }
  const std::size_t length = std::strlen(info->dlpi_name);
  if (length < PATH_MAX) std::memcpy(found.paths[found.count++], info->dlpi_name, length + 1);
  return found.count == kMaxLibraries ? 1 : 0;
}

/// True for our own function, which the search of all libraries finds, and would call without end.
bool is_own(const void* address) {
  return object_at(address).headers == object_at(reinterpret_cast<const void*>(&is_mpi_library)).headers;
}

// Calls dlopen() after dl_iterate_phdr(), whose callbacks hold the loader's lock: a dlopen() there could deadlock.
void* in_mapped_libraries(const char* name, Layer layer) {
  // A Found has 64 KiB: too much for a small stack.
  void* const memory = mmap(nullptr, sizeof(Found), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return nullptr;
  void* address = nullptr;
  for (std::size_t seen = 0; address == nullptr; seen += kMaxLibraries) {
    auto* const found = new (memory) Found{.layer = layer, .skip = seen};
    visit_loaded_files(note_library, found);
    for (std::size_t i = 0; i < found->count && address == nullptr; ++i) {
      void* const library = dlopen(found->paths[i], RTLD_LAZY | RTLD_NOLOAD);
      if (library == nullptr) continue;
      address = real_dlsym(library, name);
      if (layer == Layer::kNone && address != nullptr && is_own(address)) address = nullptr;
      dlclose(library);
    }
    if (found->count < kMaxLibraries) break;
  }
  munmap(memory, sizeof(Found));
  return address;
}

}  // namespace

bool belongs(const char* path, Layer layer) {
  const char* const name = file_name(path);
  // Must match libcudart-45da57e3.so.11.0, but not libcudadebugger.so.1.
  if (layer == Layer::kCuda) {
    return std::strncmp(name, "libcudart", 9) == 0 || std::strncmp(name, "libcuda.so", 10) == 0 ||
           std::strncmp(name, "libcupti", 8) == 0;
  }
  if (layer == Layer::kNccl) return std::strncmp(name, "libnccl.so", 10) == 0 || std::strncmp(name, "libnccl-", 8) == 0;
  if (layer == Layer::kTorch) {
    return std::strncmp(name, "libc10.so", 9) == 0 || std::strncmp(name, "libtorch_cpu.so", 15) == 0 ||
           std::strncmp(name, "libtorch_python.so", 18) == 0;
  }
  return layer == Layer::kMpi && (is_mpi_library(path) || begins_with_any(name, kFortranMpiLibraries));
}

bool is_mpi_library(const char* path) { return begins_with_any(file_name(path), kMpiLibraries); }

Object object_at(const void* address) {
  struct Search {
    std::uintptr_t address;
    Object found;
  } search{reinterpret_cast<std::uintptr_t>(address), {}};
  visit_loaded_files(
      [](dl_phdr_info* info, std::size_t, void* argument) {
        auto& looking = *static_cast<Search*>(argument);
        for (int i = 0; i < info->dlpi_phnum; ++i) {
          const ElfW(Phdr)& segment = info->dlpi_phdr[i];
          const std::uintptr_t begin = info->dlpi_addr + segment.p_vaddr;
          if (segment.p_type != PT_LOAD || looking.address - begin >= segment.p_memsz) continue;
          looking.found = {info->dlpi_phdr, info->dlpi_name};
          return 1;
        }
        return 0;
      },
      &search);
  return search.found;
}

void* resolve(const char* name, Layer layer) {
  if (void* const next = next_symbol(name)) return next;
  void* const known = in_mapped_libraries(name, layer);
  // PyTorch may be linked into any library. Its mangled names are unique.
  return known == nullptr && layer == Layer::kTorch ? in_mapped_libraries(name, Layer::kNone) : known;
}

void* resolve_in(const char* name, Layer layer) { return in_mapped_libraries(name, layer); }

void* resolve_data(const char* name, Layer layer) {
  if (void* const first = real_dlsym(RTLD_DEFAULT, name)) return first;
  return in_mapped_libraries(name, layer);
}

}  // namespace profshim::inject
