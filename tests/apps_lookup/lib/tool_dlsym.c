// A tool that exports dlsym() itself, as overlays and CUDA interposers do. It ends with a jump (-O2), since RTLD_NEXT
// goes by the caller.
#include <dlfcn.h>
#include <stdio.h>

typedef void* Dlsym(void*, const char*);
static int seen;

static Dlsym* find(void) {
  void* found = dlvsym(RTLD_NEXT, "dlsym", "GLIBC_2.34");
  if (!found) found = dlvsym(RTLD_NEXT, "dlsym", "GLIBC_2.2.5");
  return (Dlsym*)(found ? found : dlvsym(RTLD_NEXT, "dlsym", "GLIBC_2.17"));
}

void* dlsym(void* handle, const char* name) {
  static Dlsym* real;
  if (!real) real = find();
  __atomic_fetch_add(&seen, 1, __ATOMIC_RELAXED);
  return real(handle, name);
}

__attribute__((destructor)) static void print(void) { fprintf(stderr, "tool_dlsym saw %s\n", seen ? "some" : "none"); }
