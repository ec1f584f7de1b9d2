// Implements glibc 2.35's _dl_find_object(), which the C++ unwinder calls, for older releases. For `make portable`.
#include <dlfcn.h>
#include <link.h>

#include <cstdint>

#include "profshim/base/threads/loader_lock.h"

#if defined(DLFO_STRUCT_HAS_EH_DBASE)
namespace {

struct Search {
  std::uintptr_t address;
  dl_find_object* into;
};

int look_at(dl_phdr_info* info, std::size_t, void* argument) {
  const auto& search = *static_cast<Search*>(argument);
  const ElfW(Phdr)* table = nullptr;
  std::uintptr_t begin = 0, end = 0;
  for (int i = 0; i < info->dlpi_phnum; ++i) {
    const ElfW(Phdr)& segment = info->dlpi_phdr[i];
    if (segment.p_type == PT_GNU_EH_FRAME) table = &segment;
    const std::uintptr_t at = info->dlpi_addr + segment.p_vaddr;
    if (segment.p_type != PT_LOAD || search.address < at || search.address >= at + segment.p_memsz) continue;
    begin = at;
    end = at + segment.p_memsz;
  }
  if (end == 0) return 0;
  if (table == nullptr) return -1;
  *search.into = {};
  search.into->dlfo_map_start = reinterpret_cast<void*>(begin);
  search.into->dlfo_map_end = reinterpret_cast<void*>(end);
  search.into->dlfo_eh_frame = reinterpret_cast<void*>(info->dlpi_addr + table->p_vaddr);
  return 1;
}

}  // namespace

/// Returns -1 if no loaded file has an unwind table for `address`. Sets only the fields that the unwinder reads.
extern "C" __attribute__((visibility("hidden"))) int _dl_find_object(void* address, dl_find_object* into) noexcept {
  Search search{reinterpret_cast<std::uintptr_t>(address), into};
  return profshim::visit_loaded_files(look_at, &search) == 1 ? 0 : -1;
}
#endif
