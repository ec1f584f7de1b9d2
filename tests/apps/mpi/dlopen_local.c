/* Opens an MPI library with RTLD_LOCAL, as interpreters do. */
#include <dlfcn.h>
#include <libgen.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

int main(int argc, char** argv) {
  char path[4096] = "";
  if (argc > 1) {
    snprintf(path, sizeof path, "%s", argv[1]);
  } else {
    char self[3072] = "";
    if (readlink("/proc/self/exe", self, sizeof self - 1) < 0) return 2;
    snprintf(path, sizeof path, "%s/libdlopen_local_library.so", dirname(self));
  }
  void* const library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (library == NULL) {
    fprintf(stderr, "%s\n", dlerror());
    return 2;
  }
  int (*run)(void) = (int (*)(void))dlsym(library, "run_mpi_job");
  return run == NULL ? 2 : run();
}
