/* Steps that a barrier begins: some waiting, and a reduction. Usage: steps_loop [steps] [microseconds] [extra]
   extra: so many reductions more in each step, as a change of the program might add them. */
#include <mpi.h>
#include <stdlib.h>
#include <unistd.h>

#include "counts.h"

int main(int argc, char** argv) {
  const int steps = argc > 1 ? atoi(argv[1]) : 30, microseconds = argc > 2 ? atoi(argv[2]) : 1000;
  const int extra = argc > 3 ? atoi(argv[3]) : 0;
  double value = 1, sum = 0;
  COUNT(MPI_Init)(&argc, &argv);
  for (int step = 0; step < steps; ++step) {
    COUNT(MPI_Barrier)(MPI_COMM_WORLD);
    usleep(microseconds);
    for (int i = 0; i < 1 + extra; ++i) COUNT(MPI_Allreduce)(&value, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  }
  finalize_and_print_counts();
  return sum < 1;
}
