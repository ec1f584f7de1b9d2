/*
 * 1D diffusion whose halo moves by MPI_Put between two fences.
 *
 * steps: 80
 * ranks: 4
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#define N 500000

int main(int argc, char** argv) {
  int rank, size;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  int left = rank > 0 ? rank - 1 : MPI_PROC_NULL;
  int right = rank < size - 1 ? rank + 1 : MPI_PROC_NULL;

  double *u, *v = calloc(N + 2, sizeof(double));
  MPI_Win window;
  MPI_Win_allocate((N + 2) * sizeof(double), sizeof(double), MPI_INFO_NULL, MPI_COMM_WORLD, &u, &window);
  for (int i = 0; i < N + 2; i++) u[i] = rank == 0 && i < 100 ? 1.0 : 0.0;

  int step;
  for (step = 0; step < 80; step++) {
    MPI_Win_fence(0, window);
    MPI_Put(&u[1], 1, MPI_DOUBLE, left, N + 1, 1, MPI_DOUBLE, window);
    MPI_Put(&u[N], 1, MPI_DOUBLE, right, 0, 1, MPI_DOUBLE, window);
    MPI_Win_fence(0, window);
    for (int i = 1; i <= N; i++) v[i] = u[i] + 0.25 * (u[i - 1] - 2.0 * u[i] + u[i + 1]);
    for (int i = 1; i <= N; i++) u[i] = v[i];
  }
  double local = 0.0, total;
  for (int i = 1; i <= N; i++) local += u[i];
  MPI_Reduce(&local, &total, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
  if (rank == 0) printf("total %g\nsteps: %d\n", total, step);
  MPI_Win_free(&window);
  MPI_Finalize();
}
