#include <mpi.h>
#include <stdlib.h>

#include "counts.h"

enum { kBurst = 200 };

int main(int argc, char** argv) {
  const int rounds = argc > 1 ? atoi(argv[1]) : 5;
  int rank, size, failures = 0;
  COUNT(MPI_Init)(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  const int right = (rank + 1) % size, left = (rank + size - 1) % size;
  for (int round = 0; round < rounds; ++round) {
    int out[16], in[16];
    MPI_Request requests[2];
    for (int i = 0; i < 16; ++i) out[i] = rank * 100 + round;
    COUNT(MPI_Irecv)(in, 16, MPI_INT, left, 7, MPI_COMM_WORLD, &requests[0]);
    COUNT(MPI_Isend)(out, 16, MPI_INT, right, 7, MPI_COMM_WORLD, &requests[1]);
    COUNT(MPI_Waitall)(2, requests, MPI_STATUSES_IGNORE);
    failures += in[15] != left * 100 + round;

    COUNT(MPI_Irecv)(in, 16, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &requests[0]);
    COUNT(MPI_Isend)(out, 16, MPI_INT, right, 8, MPI_COMM_WORLD, &requests[1]);
    int done;
    for (int i = 0; i < 3; ++i) COUNT(MPI_Test)(&requests[0], &done, MPI_STATUS_IGNORE);
    COUNT(MPI_Wait)(&requests[0], MPI_STATUS_IGNORE);
    COUNT(MPI_Wait)(&requests[1], MPI_STATUS_IGNORE);
    failures += in[0] != left * 100 + round;

    COUNT(MPI_Sendrecv)
    (out, 16, MPI_INT, right, 9, in, 16, MPI_INT, left, 9, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    failures += in[0] != left * 100 + round;
  }
  static int bytes[2][kBurst];
  static MPI_Request burst[2 * kBurst];
  for (int i = 0; i < kBurst; ++i) {
    bytes[0][i] = i;
    COUNT(MPI_Irecv)(&bytes[1][i], 1, MPI_INT, left, 100 + i, MPI_COMM_WORLD, &burst[i]);
  }
  for (int i = 0; i < kBurst; ++i) {
    COUNT(MPI_Isend)(&bytes[0][i], 1, MPI_INT, right, 100 + i, MPI_COMM_WORLD, &burst[kBurst + i]);
  }
  COUNT(MPI_Waitall)(2 * kBurst, burst, MPI_STATUSES_IGNORE);
  for (int i = 0; i < kBurst; ++i) failures += bytes[1][i] != i;
  finalize_and_print_counts();
  return failures != 0;
}
