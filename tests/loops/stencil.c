/*
 * Jacobi iteration on a 2D Cartesian grid of ranks with halo exchange.
 *
 * steps: 80
 * ranks: 4
 */
#include <math.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#define N 800
#define W (N + 2)
#define AT(u, i, j) u[(i)*W + (j)]

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int size, dims[2] = {0, 0}, periods[2] = {0, 0}, rank, north, south, west, east;
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Dims_create(size, 2, dims);
  MPI_Comm grid;
  MPI_Cart_create(MPI_COMM_WORLD, 2, dims, periods, 1, &grid);
  MPI_Comm_rank(grid, &rank);
  MPI_Cart_shift(grid, 0, 1, &north, &south);
  MPI_Cart_shift(grid, 1, 1, &west, &east);
  MPI_Datatype column;
  MPI_Type_vector(N, 1, W, MPI_DOUBLE, &column);
  MPI_Type_commit(&column);

  double *u = calloc(W * W, sizeof(double)), *v = calloc(W * W, sizeof(double));
  if (north == MPI_PROC_NULL)
    for (int j = 0; j < W; j++) AT(u, 0, j) = AT(v, 0, j) = 1.0;

  int iteration = 0;
  double residual = 1.0;
  while (iteration < 80 && residual > 1e-9) {
    MPI_Request requests[8];
    MPI_Irecv(&AT(u, 0, 1), N, MPI_DOUBLE, north, 0, grid, &requests[0]);
    MPI_Irecv(&AT(u, N + 1, 1), N, MPI_DOUBLE, south, 1, grid, &requests[1]);
    MPI_Irecv(&AT(u, 1, 0), 1, column, west, 2, grid, &requests[2]);
    MPI_Irecv(&AT(u, 1, N + 1), 1, column, east, 3, grid, &requests[3]);
    MPI_Isend(&AT(u, N, 1), N, MPI_DOUBLE, south, 0, grid, &requests[4]);
    MPI_Isend(&AT(u, 1, 1), N, MPI_DOUBLE, north, 1, grid, &requests[5]);
    MPI_Isend(&AT(u, 1, N), 1, column, east, 2, grid, &requests[6]);
    MPI_Isend(&AT(u, 1, 1), 1, column, west, 3, grid, &requests[7]);
    MPI_Waitall(8, requests, MPI_STATUSES_IGNORE);

    double local = 0.0;
    for (int i = 1; i <= N; i++)
      for (int j = 1; j <= N; j++) {
        AT(v, i, j) = 0.25 * (AT(u, i - 1, j) + AT(u, i + 1, j) + AT(u, i, j - 1) + AT(u, i, j + 1));
        local += fabs(AT(v, i, j) - AT(u, i, j));
      }
    double* swap = u;
    u = v;
    v = swap;
    MPI_Allreduce(&local, &residual, 1, MPI_DOUBLE, MPI_SUM, grid);
    iteration++;
  }
  if (rank == 0) printf("residual %g\nsteps: %d\n", residual, iteration);
  MPI_Finalize();
}
