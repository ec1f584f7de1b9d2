/*
 * Ring exchange of blocks that polls with MPI_Testany while it computes.
 *
 * steps: 60
 * ranks: 4
 */
#include <math.h>
#include <mpi.h>
#include <stdio.h>

#define CHUNKS 50
#define CHUNK 1500
#define HALO 2000

static double u[CHUNKS * CHUNK], from_left[HALO], from_right[HALO];

static void compute(double* chunk) {
  for (int i = 0; i < CHUNK; i++) chunk[i] = 0.99 * chunk[i] + 0.01 * sin(chunk[i] + i);
}

static void boundary(double* edge, const double* halo) {
  for (int i = 0; i < HALO; i++) edge[i] = 0.5 * (edge[i] + halo[i]);
}

int main(int argc, char** argv) {
  int rank, size;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  int left = (rank + size - 1) % size, right = (rank + 1) % size;
  double *last = u + CHUNKS * CHUNK - HALO, out_left[HALO], out_right[HALO];
  for (int i = 0; i < CHUNKS * CHUNK; i++) u[i] = cos(0.01 * i + rank);

  int step;
  for (step = 0; step < 60; step++) {
    MPI_Request requests[4];
    for (int i = 0; i < HALO; i++) out_left[i] = u[i], out_right[i] = last[i];
    MPI_Irecv(from_left, HALO, MPI_DOUBLE, left, 0, MPI_COMM_WORLD, &requests[0]);
    MPI_Irecv(from_right, HALO, MPI_DOUBLE, right, 1, MPI_COMM_WORLD, &requests[1]);
    MPI_Isend(out_right, HALO, MPI_DOUBLE, right, 0, MPI_COMM_WORLD, &requests[2]);
    MPI_Isend(out_left, HALO, MPI_DOUBLE, left, 1, MPI_COMM_WORLD, &requests[3]);

    int pending = 4, chunk = 0;
    while (pending > 0 || chunk < CHUNKS) {
      if (chunk < CHUNKS) compute(u + CHUNK * chunk++);
      int index, flag;
      MPI_Testany(4, requests, &index, &flag, MPI_STATUS_IGNORE);
      if (flag && index != MPI_UNDEFINED) pending--;
    }
    boundary(u, from_left);
    boundary(last, from_right);
  }
  if (rank == 0) printf("u[0] %g\nsteps: %d\n", u[0], step);
  MPI_Finalize();
}
