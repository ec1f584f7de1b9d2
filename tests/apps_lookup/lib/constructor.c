// Looks a function up by a handle in a constructor, which may run before profshim's. $CONSTRUCTOR_MPI: the library.
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

__attribute__((constructor)) static void look_up(void) {
  void* const library = dlopen(getenv("CONSTRUCTOR_MPI"), RTLD_NOW | RTLD_LOCAL);
  fprintf(stderr, "constructor found %d %d\n", dlsym(library, "MPI_Barrier") != NULL,
          dlsym(library, "MPI_None") != NULL);
}
