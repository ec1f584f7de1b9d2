// RTLD_NEXT does not find NCCL in a library that was opened with RTLD_LOCAL.
#include <dlfcn.h>
#include <stdio.h>

int main(int argc, char** argv) {
  void* const library = argc == 2 ? dlopen(argv[1], RTLD_NOW | RTLD_LOCAL) : NULL;
  void (*use)(void) = library != NULL ? (void (*)(void))dlsym(library, "use_nccl") : NULL;
  if (use == NULL) {
    fprintf(stderr, "%s\n", dlerror());
    return 2;
  }
  use();
  return 0;
}
