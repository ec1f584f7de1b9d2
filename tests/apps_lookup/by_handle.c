// An MPI job of one rank that is not linked to MPI, as ctypes, cffi and Julia make it.
//   by_handle LIBRARY [global] [version] [threads] [again] [namespace] [plugin PATH] [lazy]
// Prints what it saw of the loader, and "barriers N".
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { kBarriers = 50, kThreads = 4, kLookups = 20000 };

static int has(int count, char** words, const char* word) {
  for (int i = 2; i < count; ++i)
    if (strcmp(words[i], word) == 0) return i;
  return 0;
}

static void* library;

static void* look_up(const char* name, const char* version) {
  dlerror();
  void* const found = version ? dlvsym(library, name, version) : dlsym(library, name);
  const char* const error = dlerror();
  if (found && error) printf("error after a success: %s\n", error);
  if (!found) printf("missing: %s\n", error ? error : "without an error");
  return found;
}

static void* look_up_again(void* expected) {
  for (int i = 0; i < kLookups; ++i)
    if (dlsym(library, "MPI_Barrier") != expected || dlsym(library, "MPI_None") || !dlsym(RTLD_DEFAULT, "strlen"))
      return (void*)1;
  return NULL;
}

static int differ_in_threads(void* barrier) {
  pthread_t threads[kThreads];
  int differ = 0;
  for (int i = 0; i < kThreads; ++i) pthread_create(&threads[i], NULL, look_up_again, barrier);
  for (int i = 0; i < kThreads; ++i) {
    void* result = NULL;
    pthread_join(threads[i], &result);
    differ += result != NULL;
  }
  return differ;
}

int main(int count, char** words) {
  const int mode = RTLD_NOW | (has(count, words, "global") ? RTLD_GLOBAL : RTLD_LOCAL);
  library = has(count, words, "namespace") ? dlmopen(LM_ID_NEWLM, words[1], RTLD_NOW) : dlopen(words[1], mode);
  if (!library) return puts(dlerror()), 3;
  if (has(count, words, "again")) {
    look_up("MPI_Barrier", NULL);
    dlclose(library);
    library = dlopen(words[1], mode);
  }
  if (has(count, words, "version")) look_up("MPI_Barrier", "NONE_1.0");
  look_up("MPI_None", NULL);
  look_up("MPI_Barrier_", NULL);

  int (*const init)(void*, void*) = look_up("MPI_Init", NULL);
  int (*const barrier)(void*) = look_up("MPI_Barrier", NULL);
  int (*const finalize)(void) = look_up("MPI_Finalize", NULL);
  void* const world = dlsym(library, "ompi_mpi_comm_world");
  if (has(count, words, "global")) printf("as by name: %d\n", (void*)barrier == dlsym(RTLD_DEFAULT, "MPI_Barrier"));
  printf("PMPI is another function: %d\n", dlsym(library, "PMPI_Barrier") != NULL);
  init(NULL, NULL);
  for (int i = 0; i < kBarriers; ++i) barrier(world ? world : (void*)0x44000000);
  if (has(count, words, "threads")) printf("threads that differ: %d\n", differ_in_threads((void*)barrier));
  const int plugin = has(count, words, "plugin");
  if (plugin) {  // its calls of MPI go past this program's
    void* const loaded =
        dlopen(words[plugin + 1], RTLD_LOCAL | RTLD_DEEPBIND | (has(count, words, "lazy") ? RTLD_LAZY : RTLD_NOW));
    if (!loaded) return puts(dlerror()), 4;
    void (*const plugin_barriers)(void*) = dlsym(loaded, "plugin_barriers");
    plugin_barriers(world ? world : (void*)0x44000000);
  }
  finalize();
  printf("barriers %d\n", kBarriers);
  return 0;
}
