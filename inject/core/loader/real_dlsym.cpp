#include "real_dlsym.h"

#include <dlfcn.h>

#include <atomic>

#include "loaded_symbol.h"

extern "C" {
// Read by lookup/dlsym.S. Null until first used after the relocation of this library. Threads that come at the same
// time store equal values.
[[gnu::visibility("hidden")]] constinit std::atomic<void*> profshim_next_dlsym{nullptr};
[[gnu::visibility("hidden")]] constinit std::atomic<void*> profshim_next_dlvsym{nullptr};
}

namespace profshim::inject {
namespace {

constinit std::atomic<Dlsym*> of_libc{nullptr};

void* function_of(const char* soname, const char* name, const link_map* files) {
  const link_map* const file = file_named(soname, files);
  return file != nullptr ? function_in(file->l_ld, file->l_addr, name) : nullptr;
}

/// Since glibc 2.34 in libc.so.6, before in libdl.so.2.
void* in_c_library(const char* name, const link_map* files) {
  void* const found = function_of("libc.so.6", name, files);
  return found != nullptr ? found : function_of("libdl.so.2", name, files);
}

Dlsym* libc_dlsym() {
  Dlsym* known = of_libc.load(std::memory_order_relaxed);
  if (known == nullptr) {
    known = reinterpret_cast<Dlsym*>(in_c_library("dlsym", loaded_files()));
    if (known == nullptr) __builtin_trap();
    of_libc.store(known, std::memory_order_relaxed);
  }
  return known;
}

void* find_next(const char* name, std::atomic<void*>& known) {
  void* next = known.load(std::memory_order_relaxed);
  if (next != nullptr) return next;
  if (!is_relocated()) return in_c_library(name, loaded_files_before_relocation());
  next = next_symbol(name);
  if (next == nullptr) next = in_c_library(name, loaded_files());
  known.store(next, std::memory_order_relaxed);
  return next;
}

}  // namespace

void* real_dlsym(void* handle, const char* name) { return libc_dlsym()(handle, name); }

void* next_symbol(const char* name) { return libc_dlsym()(RTLD_NEXT, name); }

Dlsym* next_dlsym() { return reinterpret_cast<Dlsym*>(find_next("dlsym", profshim_next_dlsym)); }
Dlvsym* next_dlvsym() { return reinterpret_cast<Dlvsym*>(find_next("dlvsym", profshim_next_dlvsym)); }

}  // namespace profshim::inject

extern "C" {
[[gnu::visibility("hidden")]] void* profshim_find_dlsym() {
  return reinterpret_cast<void*>(profshim::inject::next_dlsym());
}
[[gnu::visibility("hidden")]] void* profshim_find_dlvsym() {
  return reinterpret_cast<void*>(profshim::inject::next_dlvsym());
}
}
