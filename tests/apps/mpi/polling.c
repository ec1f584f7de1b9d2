#include <mpi.h>
#include <time.h>

#include "counts.h"

enum { kLoop = 250, kMany = 20, kPauses = 5, kRounds = 3, kNeverSent = 99 };

static void pause_ms(int ms) {
  const struct timespec time = {0, ms * 1000000L};
  nanosleep(&time, NULL);
}

int main(int argc, char** argv) {
  int rank, size, flag, index, done, indices[2], in[2], out = 7;
  MPI_Request requests[2];
  COUNT(MPI_Init)(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  const int other = size - 1 - rank;
  for (int i = 0; i < 2; ++i) COUNT(MPI_Irecv)(&in[i], 1, MPI_INT, other, i, MPI_COMM_WORLD, &requests[i]);

  for (int i = 0; i < kLoop; ++i) COUNT(MPI_Test)(&requests[0], &flag, MPI_STATUS_IGNORE);
  for (int i = 0; i < kLoop; ++i) {
    COUNT(MPI_Testany)(2, requests, &index, &flag, MPI_STATUS_IGNORE);
    COUNT(MPI_Iprobe)(MPI_ANY_SOURCE, kNeverSent, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
  }
  for (int i = 0; i < kPauses; ++i) {
    pause_ms(2);
    COUNT(MPI_Testall)(2, requests, &flag, MPI_STATUSES_IGNORE);
  }
  for (int i = 0; i < kMany; ++i) { /* more functions than one "MPI polling" event can count */
    COUNT(MPI_Testsome)(2, requests, &done, indices, MPI_STATUSES_IGNORE);
    COUNT(MPI_Testall)(2, requests, &flag, MPI_STATUSES_IGNORE);
    COUNT(MPI_Test)(&requests[1], &flag, MPI_STATUS_IGNORE);
    COUNT(MPI_Request_get_status)(requests[0], &flag, MPI_STATUS_IGNORE);
  }
  for (int round = 0; round < kRounds; ++round) {
    for (int i = 0; i < kLoop; ++i) COUNT(MPI_Test)(&requests[0], &flag, MPI_STATUS_IGNORE);
    COUNT(MPI_Barrier)(MPI_COMM_WORLD);
  }

  /* The number of MPI_Improbe calls varies, so they are not counted. */
  MPI_Message message;
  if (rank == 0) pause_ms(20);
  for (int i = 0; i < 3; ++i) COUNT(MPI_Send)(&out, 1, MPI_INT, other, i, MPI_COMM_WORLD);
  do {
    MPI_Improbe(MPI_ANY_SOURCE, 2, MPI_COMM_WORLD, &flag, &message, MPI_STATUS_IGNORE);
  } while (!flag);
  int last = 0;
  COUNT(MPI_Mrecv)(&last, 1, MPI_INT, &message, MPI_STATUS_IGNORE);
  COUNT(MPI_Waitall)(2, requests, MPI_STATUSES_IGNORE);
  if (in[0] != out || in[1] != out || last != out) MPI_Abort(MPI_COMM_WORLD, 1);
  finalize_and_print_counts();
  return 0;
}
