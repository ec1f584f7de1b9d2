/*
 * Implicit heat equation: each time step solves a system by CG to a tolerance.
 *
 * steps: 20
 * ranks: 4
 */
#include <math.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#define N 20000

static int rank, size, left, right;

static void multiply(double* p, double* q, double c) {
  MPI_Sendrecv(&p[N], 1, MPI_DOUBLE, right, 0, &p[0], 1, MPI_DOUBLE, left, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  MPI_Sendrecv(&p[1], 1, MPI_DOUBLE, left, 1, &p[N + 1], 1, MPI_DOUBLE, right, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  for (int i = 1; i <= N; i++) q[i] = p[i] + c * (2.0 * p[i] - p[i - 1] - p[i + 1]);
}

static double dot(const double* a, const double* b) {
  double local = 0.0, global;
  for (int i = 1; i <= N; i++) local += a[i] * b[i];
  MPI_Allreduce(&local, &global, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  return global;
}

static int solve(double* u, const double* b, double c) {
  static double r[N + 2], p[N + 2], q[N + 2];
  multiply(u, q, c);
  for (int i = 1; i <= N; i++) p[i] = r[i] = b[i] - q[i];
  double rr = dot(r, r);
  int k = 0;
  for (; k < 200 && rr > 1e-12; k++) {
    multiply(p, q, c);
    double alpha = rr / dot(p, q);
    for (int i = 1; i <= N; i++) u[i] += alpha * p[i], r[i] -= alpha * q[i];
    double rr_new = dot(r, r);
    for (int i = 1; i <= N; i++) p[i] = r[i] + rr_new / rr * p[i];
    rr = rr_new;
  }
  return k;
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  left = rank > 0 ? rank - 1 : MPI_PROC_NULL;
  right = rank < size - 1 ? rank + 1 : MPI_PROC_NULL;
  static double u[N + 2], b[N + 2];
  for (int i = 1; i <= N; i++) u[i] = sin(0.05 * i) + (i % 100 < 50);
  int step = 0;
  for (double dt = 4.0; step < 20; step++, dt *= 1.1) {
    for (int i = 1; i <= N; i++) b[i] = u[i];
    int iterations = solve(u, b, dt);
    if (rank == 0) printf("time step %d: %d iterations\n", step, iterations);
  }
  if (rank == 0) printf("steps: %d\n", step);
  MPI_Finalize();
}
