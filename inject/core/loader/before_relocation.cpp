// Before the loader has relocated this library, it can call no other library: system calls are made here. The loader
// has stored the list of files in the program's dynamic section, for debuggers; the kernel tells where that is.
#include <elf.h>
#include <fcntl.h>
#include <sys/syscall.h>

#include <cstdint>

#include "loaded_symbol.h"

namespace profshim::inject {
namespace {

constinit const volatile void* const volatile own_address = &own_address;  // the loader writes this

long call_kernel(long number, long a, long b, long c, long d) {
#if defined(__x86_64__)
  long result;
  register long fourth __asm__("r10") = d;
  __asm__ volatile("syscall"
                   : "=a"(result)
                   : "a"(number), "D"(a), "S"(b), "d"(c), "r"(fourth)
                   : "rcx", "r11", "memory");
  return result;
#elif defined(__aarch64__)
  register long code __asm__("x8") = number;
  register long first __asm__("x0") = a;
  register long second __asm__("x1") = b;
  register long third __asm__("x2") = c;
  register long fourth __asm__("x3") = d;
  __asm__ volatile("svc 0" : "+r"(first) : "r"(code), "r"(second), "r"(third), "r"(fourth) : "memory");
  return first;
#endif
}

struct ProgramHeaders {
  const ElfW(Phdr) * first = nullptr;
  std::uint64_t count = 0;
};

ProgramHeaders program_headers() {
  ProgramHeaders found;
  const long fd = call_kernel(SYS_openat, AT_FDCWD, reinterpret_cast<long>("/proc/self/auxv"), O_RDONLY | O_CLOEXEC, 0);
  if (fd < 0) return found;
  Elf64_auxv_t entry;
  while (call_kernel(SYS_read, fd, reinterpret_cast<long>(&entry), sizeof entry, 0) == sizeof entry) {
    if (entry.a_type == AT_PHDR) found.first = reinterpret_cast<const ElfW(Phdr)*>(entry.a_un.a_val);
    if (entry.a_type == AT_PHNUM) found.count = entry.a_un.a_val;
  }
  call_kernel(SYS_close, fd, 0, 0, 0);
  return found;
}

}  // namespace

bool is_relocated() { return own_address == &own_address; }

const link_map* loaded_files_before_relocation() {
  const ProgramHeaders headers = program_headers();
  ElfW(Addr) bias = 0, dynamic_at = 0;
  for (std::uint64_t i = 0; headers.first != nullptr && i < headers.count; ++i) {
    const ElfW(Phdr)& header = headers.first[i];
    if (header.p_type == PT_PHDR) bias = reinterpret_cast<ElfW(Addr)>(headers.first) - header.p_vaddr;
    if (header.p_type == PT_DYNAMIC) dynamic_at = header.p_vaddr;
  }
  if (dynamic_at == 0) return nullptr;
  for (auto* entry = reinterpret_cast<const ElfW(Dyn)*>(bias + dynamic_at); entry->d_tag != DT_NULL; ++entry) {
    if (entry->d_tag == DT_DEBUG && entry->d_un.d_ptr != 0) {
      return reinterpret_cast<const r_debug*>(entry->d_un.d_ptr)->r_map;
    }
  }
  return nullptr;
}

}  // namespace profshim::inject
