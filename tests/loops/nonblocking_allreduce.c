/*
 * Gradient sums by MPI_Iallreduce, overlapped with the work of the next batch.
 *
 * steps: 60
 * ranks: 4
 */
#include <math.h>
#include <mpi.h>
#include <stdio.h>

#define N 150000

static double gradient[N], sum[N], weights[N], batch[N];

static void load_batch(int step, int rank) {
  for (int i = 0; i < N; i++) batch[i] = sin(0.001 * i * (rank + 1) + step);
}

int main(int argc, char** argv) {
  int rank, size;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);

  int step;
  load_batch(0, rank);
  for (step = 0; step < 60; step++) {
    for (int i = 0; i < N; i++) gradient[i] = weights[i] - batch[i];
    MPI_Request request;
    MPI_Iallreduce(gradient, sum, N, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD, &request);
    load_batch(step + 1, rank);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    for (int i = 0; i < N; i++) weights[i] -= 0.1 * sum[i] / size;
  }
  if (rank == 0) printf("weight %g\nsteps: %d\n", weights[N / 2], step);
  MPI_Finalize();
}
