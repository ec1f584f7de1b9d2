/*
 * Conjugate gradient on the 2D Laplacian in strips of rows.
 *
 * steps: 60
 * ranks: 4
 */
#include <math.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#define ROWS 200
#define COLS 512
#define SIZE (ROWS * COLS)

static int rank, size, up, down;

static void multiply(double* p, double* q) { /* p has a halo row on each side */
  MPI_Request requests[4];
  MPI_Irecv(p - COLS, COLS, MPI_DOUBLE, up, 0, MPI_COMM_WORLD, &requests[0]);
  MPI_Irecv(p + SIZE, COLS, MPI_DOUBLE, down, 1, MPI_COMM_WORLD, &requests[1]);
  MPI_Isend(p + SIZE - COLS, COLS, MPI_DOUBLE, down, 0, MPI_COMM_WORLD, &requests[2]);
  MPI_Isend(p, COLS, MPI_DOUBLE, up, 1, MPI_COMM_WORLD, &requests[3]);
  MPI_Waitall(4, requests, MPI_STATUSES_IGNORE);
  for (int i = 0; i < ROWS; i++)
    for (int j = 0; j < COLS; j++) {
      int k = i * COLS + j;
      double left = j > 0 ? p[k - 1] : 0.0, right = j < COLS - 1 ? p[k + 1] : 0.0;
      q[k] = 4.0 * p[k] - left - right - p[k - COLS] - p[k + COLS];
    }
}

static double dot(const double* a, const double* b) {
  double local = 0.0, global;
  for (int i = 0; i < SIZE; i++) local += a[i] * b[i];
  MPI_Allreduce(&local, &global, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  return global;
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  up = rank > 0 ? rank - 1 : MPI_PROC_NULL;
  down = rank < size - 1 ? rank + 1 : MPI_PROC_NULL;
  double *x = calloc(SIZE, 8), *r = calloc(SIZE, 8), *q = calloc(SIZE, 8);
  double* p = (double*)calloc(SIZE + 2 * COLS, 8) + COLS;
  for (int i = 0; i < SIZE; i++) p[i] = r[i] = sin(0.001 * (i + rank * SIZE));
  double rr = dot(r, r);
  int k = 0;
  while (k < 60 && sqrt(rr) > 1e-10) {
    multiply(p, q);
    double alpha = rr / dot(p, q);
    for (int i = 0; i < SIZE; i++) x[i] += alpha * p[i], r[i] -= alpha * q[i];
    double rr_new = dot(r, r), beta = rr_new / rr;
    for (int i = 0; i < SIZE; i++) p[i] = r[i] + beta * p[i];
    rr = rr_new;
    k++;
  }
  if (rank == 0) printf("residual %g\nsteps: %d\n", sqrt(rr), k);
  MPI_Finalize();
}
