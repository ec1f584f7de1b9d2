/* Calls every function of hooks/mpi.def that this MPI has, except MPI_Init_thread, MPI_Abort, MPI_Comm_spawn* and, with
   MPICH, ports. */
#define _GNU_SOURCE
#include <dlfcn.h>

#include "parts.h"

int rank, size, left, right;
double in[4 * kMax], out[4 * kMax];
int counts_of[kMax], places[kMax];
MPI_Aint wide_places[kMax];
MPI_Datatype types[kMax];
MPI_Comm graph;
MPI_Request request;

/* profshim defines every MPI function. Only PMPI names show which functions this MPI has. */
static void count_rows_not_called(void) {
#define HOOK(name, ...) \
  if (dlsym(RTLD_DEFAULT, "P" #name) != NULL) count_calls(#name, 0);
#include "../../../../include/profshim/hooks/mpi.def"
#undef HOOK
}

int main(int argc, char** argv) {
  COUNT(MPI_Init)(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  left = (rank + size - 1) % size;
  right = (rank + 1) % size;
  for (int i = 0; i < kMax; ++i) {
    counts_of[i] = 1;
    places[i] = 8 * i; /* no overlap in elements or in bytes */
    wide_places[i] = 8 * i;
    types[i] = MPI_DOUBLE;
  }
  COUNT(MPI_Dist_graph_create_adjacent)
  (MPI_COMM_WORLD, 1, &left, MPI_UNWEIGHTED, 1, &right, MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &graph);
  const char* const only = argc > 1 ? argv[1] : "";
  struct {
    const char* name;
    void (*run)(void);
  } parts[] = {{"collectives", collectives},
               {"point_to_point", point_to_point},
               {"partitioned", partitioned},
               {"completions", completions},
               {"communicators", communicators},
               {"sessions", sessions},
               {"ports", ports},
               {"types", own_types},
               {"one_sided", one_sided},
               {"files", files}};
  for (size_t i = 0; i < sizeof parts / sizeof *parts; ++i) {
    if (*only == 0 || strcmp(only, parts[i].name) == 0) parts[i].run();
  }
  COUNT(MPI_Comm_free)(&graph);
  if (*only == 0) count_rows_not_called();
  finalize_and_print_counts();
  return 0;
}
