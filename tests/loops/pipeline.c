/*
 * Pipeline of ranks: receive an item from the left, work, send it to the right.
 *
 * steps: 80
 * ranks: 4
 */
#include <math.h>
#include <mpi.h>
#include <stdio.h>

#define ITEMS 80
#define SIZE 80000

int main(int argc, char** argv) {
  static double item[SIZE];
  int rank, size, count = 0;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);

  double sum = 0.0;
  for (int k = 0; k < ITEMS; k++) {
    if (rank > 0)
      MPI_Recv(item, SIZE, MPI_DOUBLE, rank - 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    else
      for (int i = 0; i < SIZE; i++) item[i] = k + 0.001 * i;

    for (int i = 0; i < SIZE; i++) item[i] = sqrt(1.0 + sin(item[i]) * cos(item[i]));

    if (rank < size - 1)
      MPI_Send(item, SIZE, MPI_DOUBLE, rank + 1, 0, MPI_COMM_WORLD);
    else
      for (int i = 0; i < SIZE; i++) sum += item[i];
    count++;
  }
  if (rank == size - 1) printf("sum %g\nsteps: %d\n", sum, count);
  MPI_Finalize();
}
