#include "modules.h"

#include <link.h>

#include <cstring>

#include "profshim/base/process/memory_map.h"
#include "profshim/base/threads/loader_lock.h"

namespace profshim::symbol {
namespace {

void name_files(std::vector<Module>& modules) {
  each_mapping([&modules](const MemoryMapping& mapping) {
    if (!mapping.path.starts_with('/')) return;
    for (Module& module : modules) {
      if (mapping.begin <= module.code_from && module.code_from < mapping.end) module.path = mapping.path;
    }
  });
}

}  // namespace

std::vector<Module> loaded_modules() {
  std::vector<Module> modules;
  visit_loaded_files(
      [](dl_phdr_info* info, std::size_t, void* to) {
        auto& list = *static_cast<std::vector<Module>*>(to);
        Module module;
        module.name = info->dlpi_name != nullptr ? info->dlpi_name : "";
        module.bias = info->dlpi_addr;
        for (int i = 0; i < info->dlpi_phnum; ++i) {
          const ElfW(Phdr)& segment = info->dlpi_phdr[i];
          if (segment.p_type != PT_LOAD || (segment.p_flags & PF_X) == 0 || (segment.p_flags & PF_R) == 0) continue;
          module.code_from = info->dlpi_addr + segment.p_vaddr;
          module.code_to = module.code_from + segment.p_filesz;
        }
        if (module.code_to != 0) list.push_back(module);
        return 0;
      },
      &modules);
  name_files(modules);
  std::erase_if(modules, [](const Module& module) { return module.path.empty(); });  // the vdso
  return modules;
}

bool is_ours(const Module& module) {
  const auto here = reinterpret_cast<std::uint64_t>(&loaded_modules);
  return module.code_from <= here && here < module.code_to;
}

bool is_system(const Module& module) {
  const std::string name = module.path.substr(module.path.rfind('/') + 1);
  for (const char* const prefix : {"libc.so", "libc-2", "ld-linux", "ld-2", "ld.so", "libpthread", "libdl.so"}) {
    if (name.compare(0, std::strlen(prefix), prefix) == 0) return true;
  }
  return false;
}

}  // namespace profshim::symbol
