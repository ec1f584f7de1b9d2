#include <mpi.h>
#include <stdlib.h>

#include "counts.h"

int main(int argc, char** argv) {
  const int rounds = argc > 1 ? atoi(argv[1]) : 5;
  int rank, size, failures = 0, in = -1, out;
  COUNT(MPI_Init)(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  const int right = (rank + 1) % size, left = (rank + size - 1) % size;
  MPI_Request pair[2];
  COUNT(MPI_Recv_init)(&in, 1, MPI_INT, left, 3, MPI_COMM_WORLD, &pair[0]);
  COUNT(MPI_Send_init)(&out, 1, MPI_INT, right, 3, MPI_COMM_WORLD, &pair[1]);
  for (int round = 0; round < rounds; ++round) {
    out = rank + round;
    COUNT(MPI_Startall)(2, pair);
    COUNT(MPI_Waitall)(2, pair, MPI_STATUSES_IGNORE);
    failures += in != left + round;
    COUNT(MPI_Start)(&pair[0]);
    COUNT(MPI_Start)(&pair[1]);
    COUNT(MPI_Wait)(&pair[0], MPI_STATUS_IGNORE);
    COUNT(MPI_Wait)(&pair[1], MPI_STATUS_IGNORE);
  }
  COUNT(MPI_Request_free)(&pair[0]);
  COUNT(MPI_Request_free)(&pair[1]);

  for (int round = 0; round < rounds; ++round) {
    MPI_Comm half, copy;
    COUNT(MPI_Comm_split)(MPI_COMM_WORLD, rank % 2, rank, &half);
    COUNT(MPI_Comm_dup)(half, &copy);
    if (round == 1) COUNT(MPI_Comm_set_name)(copy, "halves");
    int one = 1, sum = 0;
    MPI_Request request;
    COUNT(MPI_Allreduce)(&one, &sum, 1, MPI_INT, MPI_SUM, half);
    COUNT(MPI_Iallreduce)(&one, &sum, 1, MPI_INT, MPI_SUM, copy, &request);
    COUNT(MPI_Wait)(&request, MPI_STATUS_IGNORE);
    failures += sum != (size + (rank % 2 == 0 ? 1 : 0)) / 2;
    COUNT(MPI_Comm_free)(&copy);
    COUNT(MPI_Comm_free)(&half);
  }
  finalize_and_print_counts();
  return failures != 0;
}
