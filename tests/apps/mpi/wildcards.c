/* The trace must name the sources for MPI_ANY_SOURCE although the program ignores statuses. */
#include <mpi.h>

#include "counts.h"

enum { kMany = 200, kTag = 21 };

static int right;
static MPI_Request requests[kMany];
static int in[kMany];

static void post(int n) {
  for (int i = 0; i < n; ++i) {
    COUNT(MPI_Irecv)(&in[i], 1, MPI_INT, MPI_ANY_SOURCE, i % 2 ? MPI_ANY_TAG : kTag, MPI_COMM_WORLD, &requests[i]);
  }
  for (int i = 0; i < n; ++i) COUNT(MPI_Send)(&i, 1, MPI_INT, right, kTag, MPI_COMM_WORLD);
}

static int truncated(int n) {
  static const int long_message[4];
  int class = 0;
  for (int i = 0; i < n; ++i) {
    COUNT(MPI_Irecv)(&in[i], 1, MPI_INT, MPI_ANY_SOURCE, kTag, MPI_COMM_WORLD, &requests[i]);
  }
  COUNT(MPI_Barrier)(MPI_COMM_WORLD);
  for (int i = 0; i < n; ++i) COUNT(MPI_Send)(long_message, i == 0 ? 4 : 1, MPI_INT, right, kTag, MPI_COMM_WORLD);
  const int result = COUNT(MPI_Waitall)(n, requests, MPI_STATUSES_IGNORE);
  MPI_Error_class(result, &class);
  for (int i = 0; i < n; ++i) {
    if (requests[i] != MPI_REQUEST_NULL)
      MPI_Wait(&requests[i], MPI_STATUS_IGNORE);  // not counted, because the number of calls varies
  }
  return class;
}

int main(int argc, char** argv) {
  int rank, size, done, flag, index, failures = 0, indices[kMany];
  COUNT(MPI_Init)(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  right = (rank + 1) % size;
  for (int n = 4; n <= kMany; n += kMany - 4) {
    post(n);
    COUNT(MPI_Waitall)(n, requests, MPI_STATUSES_IGNORE);
    for (int i = 0; i < n; ++i) failures += in[i] != i;
    post(n);
    for (int left_over = n; left_over > 0; left_over -= done) {
      MPI_Waitsome(n, requests, &done, indices, MPI_STATUSES_IGNORE);
    }
    post(n);
    for (flag = 0; !flag;) MPI_Testall(n, requests, &flag, MPI_STATUSES_IGNORE);
    post(n);
    for (int left_over = n; left_over > 0; left_over -= done) {
      MPI_Testsome(n, requests, &done, indices, MPI_STATUSES_IGNORE);
    }
    post(n);
    for (int i = 0; i < n; ++i) COUNT(MPI_Waitany)(n, requests, &index, MPI_STATUS_IGNORE);
    for (int i = 0; i < n; ++i) failures += in[i] != i || requests[i] != MPI_REQUEST_NULL;
  }
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  const int class = truncated(4);
  if (rank == 0) printf("a truncated message is error %s\n", class == MPI_ERR_IN_STATUS ? "in status" : "of its own");
  finalize_and_print_counts();
  return failures != 0;
}
