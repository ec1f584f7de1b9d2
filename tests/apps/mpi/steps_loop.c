#include <mpi.h>
#include <stdlib.h>
#include <unistd.h>

#include "counts.h"

static double work(int rounds) {
  static double values[1 << 12];
  double sum = 0;
  for (int round = 0; round < rounds; ++round) {
    for (int i = 0; i < 1 << 12; ++i) sum += values[i] += i * 1.0001;
  }
  return sum;
}

int main(int argc, char** argv) {
  const int steps = argc > 1 ? atoi(argv[1]) : 30, microseconds = argc > 2 ? atoi(argv[2]) : 1000;
  const int extra = argc > 3 ? atoi(argv[3]) : 0, rounds = argc > 4 ? atoi(argv[4]) : 0;
  double value = 1, sum = 0;
  COUNT(MPI_Init)(&argc, &argv);
  for (int step = 0; step < steps; ++step) {
    COUNT(MPI_Barrier)(MPI_COMM_WORLD);
    if (microseconds > 0) usleep(microseconds);
    value += work(rounds) * 1e-30;
    for (int i = 0; i < 1 + extra; ++i) COUNT(MPI_Allreduce)(&value, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  }
  finalize_and_print_counts();
  return sum < 1;
}
