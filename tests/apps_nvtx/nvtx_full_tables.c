// Makes NAMES ranges of different names, and sends TYPES times with a datatype of a new name:
//   nvtx_full_tables NAMES TYPES
#include <mpi.h>
#include <nvtx3/nvToolsExt.h>
#include <stdio.h>
#include <stdlib.h>

static void make_ranges(int count) {
  char name[128];
  for (int i = 0; i < count; ++i) {
    snprintf(name, sizeof name, "range %0100d", i);
    nvtxRangePushA(name);
    nvtxRangePop();
  }
}

static void use_types(int count) {
  char name[32];
  int value = 0;
  for (int i = 0; i < count; ++i) {
    MPI_Datatype type;
    MPI_Type_contiguous(1, MPI_INT, &type);
    MPI_Type_commit(&type);
    snprintf(name, sizeof name, "type %d", i);
    MPI_Type_set_name(type, name);
    MPI_Send(&value, 1, type, MPI_PROC_NULL, 0, MPI_COMM_WORLD);
    MPI_Type_free(&type);
  }
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  if (argc < 3) MPI_Abort(MPI_COMM_WORLD, 2);
  make_ranges(atoi(argv[1]));
  use_types(atoi(argv[2]));
  MPI_Finalize();
  return 0;
}
