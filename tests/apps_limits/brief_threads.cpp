#include <mpi.h>
#include <pthread.h>

#include <cstdlib>
#include <vector>

namespace {

int calls = 0;
pthread_barrier_t all_alive;

void* send_to_nobody(void*) {
  int value = 0;
  for (int i = 0; i < calls; ++i) MPI_Send(&value, 1, MPI_INT, MPI_PROC_NULL, 7, MPI_COMM_WORLD);
  pthread_barrier_wait(&all_alive);
  return nullptr;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 4) return 2;
  const int batches = std::atoi(argv[1]);
  const int alive = std::atoi(argv[2]);
  calls = std::atoi(argv[3]);
  int provided = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  if (provided < MPI_THREAD_MULTIPLE) {
    MPI_Finalize();
    return 77;
  }
  pthread_barrier_init(&all_alive, nullptr, static_cast<unsigned>(alive));
  pthread_attr_t small;
  pthread_attr_init(&small);
  pthread_attr_setstacksize(&small, 256 * 1024);
  std::vector<pthread_t> threads(static_cast<std::size_t>(alive));
  for (int batch = 0; batch < batches; ++batch) {
    for (pthread_t& thread : threads) {
      if (pthread_create(&thread, &small, send_to_nobody, nullptr) != 0) return 3;
    }
    for (const pthread_t thread : threads) pthread_join(thread, nullptr);
  }
  MPI_Finalize();
  return 0;
}
