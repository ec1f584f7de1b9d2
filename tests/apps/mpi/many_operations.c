#include <mpi.h>

#include "counts.h"

static void add(void* in, void* inout, int* count, MPI_Datatype* type) {
  (void)type;
  for (int i = 0; i < *count; ++i) ((int*)inout)[i] += ((int*)in)[i];
}

int main(int argc, char** argv) {
  int failures = 0, one = 1, sum = 0;
  COUNT(MPI_Init)(&argc, &argv);
  COUNT(MPI_Allreduce)(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  for (int round = 0; round < 3000; ++round) {
    MPI_Op first, second;
    MPI_Op_create(add, 1, &first);
    MPI_Op_create(add, 1, &second);
    COUNT(MPI_Allreduce)(&one, &sum, 1, MPI_INT, first, MPI_COMM_SELF);
    failures += sum != one;
    COUNT(MPI_Allreduce)(&one, &sum, 1, MPI_INT, second, MPI_COMM_SELF);
    failures += sum != one;
    COUNT(MPI_Op_free)(&second);
    COUNT(MPI_Op_free)(&first);
  }
  finalize_and_print_counts();
  return failures != 0;
}
