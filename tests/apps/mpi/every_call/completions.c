#include "parts.h"

void completions(void) {
  MPI_Request pair[2];
  MPI_Status statuses[2];
  int index, flag, done, indices[2];
#define POST_PAIR()                                           \
  do {                                                        \
    COUNT(MPI_Irecv)(in, 4, MPI_DOUBLE, FROM_LEFT, &pair[0]); \
    COUNT(MPI_Isend)(BUFFER, TO_RIGHT, &pair[1]);             \
  } while (0)
#define FINISH_PAIR() COUNT(MPI_Waitall)(2, pair, MPI_STATUSES_IGNORE)
  POST_PAIR();
  COUNT(MPI_Waitany)(2, pair, &index, statuses);
  COUNT(MPI_Waitany)(2, pair, &index, statuses);
  POST_PAIR();
  COUNT(MPI_Waitsome)(2, pair, &done, indices, statuses);
  FINISH_PAIR();
  POST_PAIR();
  COUNT(MPI_Testall)(2, pair, &flag, statuses);
  FINISH_PAIR();
  POST_PAIR();
  COUNT(MPI_Testany)(2, pair, &index, &flag, statuses);
  FINISH_PAIR();
  POST_PAIR();
  COUNT(MPI_Testsome)(2, pair, &done, indices, statuses);
  FINISH_PAIR();
  POST_PAIR();
  COUNT(MPI_Request_get_status)(pair[1], &flag, statuses);
  COUNT(MPI_Test)(&pair[0], &flag, statuses);
  FINISH_PAIR();
  COUNT(MPI_Irecv)(in, 4, MPI_DOUBLE, left, 999, MPI_COMM_WORLD, &request);
  COUNT(MPI_Cancel)(&request);
  WAIT_ONE();
}
