#include <mpi.h>

#include <atomic>
#include <cstdlib>
#include <thread>
#include <vector>

#include "counts.h"

namespace {

constexpr int kThreads = 4;
std::atomic<long> failures{0}, sends{0}, receives{0}, waits{0}, reductions{0};

void exchange(MPI_Comm comm, int rank, int size, int rounds) {
  const int right = (rank + 1) % size, left = (rank + size - 1) % size;
  for (int round = 0; round < rounds; ++round) {
    int out[8], in[8], one = 1, sum = 0;
    for (int& value : out) value = rank * 1000 + round;
    MPI_Request requests[2];
    MPI_Irecv(in, 8, MPI_INT, left, round, comm, &requests[0]);
    MPI_Isend(out, 8, MPI_INT, right, round, comm, &requests[1]);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    ++receives;
    ++sends;
    ++waits;
    if (in[7] != left * 1000 + round) ++failures;
    MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, comm);
    ++reductions;
    if (sum != size) ++failures;
  }
}

}  // namespace

int main(int argc, char** argv) {
  const int rounds = argc > 1 ? std::atoi(argv[1]) : 50;
  int provided = 0, rank = 0, size = 0;
  COUNT(MPI_Init_thread)(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  if (provided < MPI_THREAD_MULTIPLE) {
    MPI_Finalize();
    return 77;
  }
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Comm comms[kThreads];
  for (MPI_Comm& comm : comms) COUNT(MPI_Comm_dup)(MPI_COMM_WORLD, &comm);
  std::vector<std::thread> threads;
  for (MPI_Comm comm : comms) threads.emplace_back(exchange, comm, rank, size, rounds);
  for (std::thread& thread : threads) thread.join();
  for (MPI_Comm& comm : comms) COUNT(MPI_Comm_free)(&comm);
  count_calls("MPI_Isend", sends);
  count_calls("MPI_Irecv", receives);
  count_calls("MPI_Waitall", waits);
  count_calls("MPI_Allreduce", reductions);
  finalize_and_print_counts();
  return failures != 0;
}
