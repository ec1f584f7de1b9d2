/*
 * Spectral time stepping: 2D Fourier transforms with an Alltoall transpose.
 *
 * steps: 40
 * ranks: 4
 */
#include <complex.h>
#include <math.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#define N 256

static int rank, size, rows;
static double complex *u, *packed, *received;

static void fft(double complex* a, int n, int stride, double complex* out, int sign) {
  if (n == 1) {
    out[0] = a[0];
    return;
  }
  fft(a, n / 2, 2 * stride, out, sign);
  fft(a + stride, n / 2, 2 * stride, out + n / 2, sign);
  for (int k = 0; k < n / 2; k++) {
    double complex even = out[k], odd = cexp(sign * 2.0 * I * M_PI * k / n) * out[k + n / 2];
    out[k] = even + odd;
    out[k + n / 2] = even - odd;
  }
}

static void transform_rows(int sign) {
  double complex line[N];
  for (int i = 0; i < rows; i++) {
    fft(u + i * N, N, 1, line, sign);
    for (int j = 0; j < N; j++) u[i * N + j] = line[j] / sqrt(N);
  }
}

static void transpose(void) {
  int block = rows * rows;
  for (int r = 0; r < size; r++)
    for (int i = 0; i < rows; i++)
      for (int j = 0; j < rows; j++) packed[r * block + j * rows + i] = u[i * N + r * rows + j];
  MPI_Alltoall(packed, block, MPI_C_DOUBLE_COMPLEX, received, block, MPI_C_DOUBLE_COMPLEX, MPI_COMM_WORLD);
  for (int r = 0; r < size; r++)
    for (int i = 0; i < rows; i++)
      for (int j = 0; j < rows; j++) u[i * N + r * rows + j] = received[r * block + i * rows + j];
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  rows = N / size;
  u = calloc(rows * N, sizeof *u), packed = calloc(rows * N, sizeof *u), received = calloc(rows * N, sizeof *u);
  for (int i = 0; i < rows * N; i++) u[i] = sin(0.1 * i);
  int step;
  for (step = 0; step < 40; step++) {
    transform_rows(-1), transpose(), transform_rows(-1);
    for (int i = 0; i < rows * N; i++) u[i] *= exp(-1e-4 * (i % N));
    transform_rows(1), transpose(), transform_rows(1);
  }
  if (rank == 0) printf("u[0] %g\nsteps: %d\n", creal(u[0]), step);
  MPI_Finalize();
}
