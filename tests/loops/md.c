/*
 * Molecular dynamics of particles in a ring of slabs, rebuilt every ten steps.
 *
 * steps: 100
 * ranks: 4
 */
#include <math.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#define N 350
#define MAX 2000

static double x[MAX], v[MAX], f[MAX], ghost[2 * MAX];
static int n = N, n_left, n_right, rank, size, left, right;

static void rebuild(double length) { /* sends each particle to the slab that owns it */
  int out[size], in[size], out_at[size], in_at[size], k = 0;
  static double packed[2 * MAX], received[2 * MAX];
  for (int r = 0; r < size; r++) {
    out_at[r] = k;
    for (int i = 0; i < n; i++)
      if ((int)(x[i] / length) % size == r) packed[k++] = x[i], packed[k++] = v[i];
    out[r] = k - out_at[r];
  }
  MPI_Alltoall(out, 1, MPI_INT, in, 1, MPI_INT, MPI_COMM_WORLD);
  for (int r = k = 0; r < size; r++) in_at[r] = k, k += in[r];
  MPI_Alltoallv(packed, out, out_at, MPI_DOUBLE, received, in, in_at, MPI_DOUBLE, MPI_COMM_WORLD);
  n = k / 2;
  for (int i = 0; i < n; i++) x[i] = received[2 * i], v[i] = received[2 * i + 1];
}

static double forces(double box) {
  MPI_Status status;
  MPI_Sendrecv(x, n, MPI_DOUBLE, right, 0, ghost, MAX, MPI_DOUBLE, left, 0, MPI_COMM_WORLD, &status);
  MPI_Get_count(&status, MPI_DOUBLE, &n_left);
  MPI_Sendrecv(x, n, MPI_DOUBLE, left, 1, ghost + n_left, MAX, MPI_DOUBLE, right, 1, MPI_COMM_WORLD, &status);
  MPI_Get_count(&status, MPI_DOUBLE, &n_right);
  double energy = 0.0;
  for (int i = 0; i < n; i++) {
    f[i] = 0.0;
    for (int j = 0; j < n + n_left + n_right; j++) {
      double d = x[i] - (j < n ? x[j] : ghost[j - n]);
      d -= box * round(d / box);
      double r2 = d * d + 0.5, s6 = 1.0 / (r2 * r2 * r2);
      if (r2 > 9.0 || j == i) continue;
      energy += 2.0 * (s6 * s6 - s6);
      f[i] += 24.0 * (2.0 * s6 * s6 - s6) / r2 * d;
    }
  }
  return energy;
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  left = (rank + size - 1) % size, right = (rank + 1) % size;
  double length = N * 1.1, box = length * size, dt = 0.002, local, total;
  srand(rank);
  for (int i = 0; i < n; i++) x[i] = rank * length + 1.1 * i, v[i] = rand() / (double)RAND_MAX - 0.5;
  int step;
  for (step = 0; step < 100; step++) {
    if (step % 10 == 0) rebuild(length);
    local = forces(box);
    for (int i = 0; i < n; i++) v[i] += dt * f[i], x[i] = fmod(x[i] + dt * v[i] + box, box);
    if (step % 20 == 0) {
      MPI_Reduce(&local, &total, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
      if (rank == 0) printf("step %d: energy %g\n", step, total);
    }
  }
  if (rank == 0) printf("steps: %d\n", step);
  MPI_Finalize();
}
