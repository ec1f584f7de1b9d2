// After its calls, uses CPU time in THREADS threads until a limit ends it: RLIMIT_CPU from SOFT to HARD seconds above
// the time used so far. HARD may be "none".
//   usage: cpu_limit SOFT HARD THREADS CALLS [return]    return: ends by itself just before the soft limit
#include <mpi.h>
#include <pthread.h>
#include <sys/resource.h>
#include <time.h>

#include <cstdio>
#include <cstdlib>
#include <string>

namespace {

double used_seconds() {
  timespec t{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_nsec) / 1e9;
}

void* compute(void*) {
  for (;;) __asm__ volatile("");
  return nullptr;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 5) return 2;
  const rlimit no_core{0, 0};
  setrlimit(RLIMIT_CORE, &no_core);
  MPI_Init(&argc, &argv);
  const bool returns = argc > 5 && std::string(argv[5]) == "return";
  const std::string hard = argv[2];
  int one = 1, sum = 0;
  for (int i = 0; i < std::atoi(argv[4]); ++i) MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_SELF);
  const auto used = static_cast<rlim_t>(used_seconds()) + 1;
  const rlimit limit{used + std::strtoul(argv[1], nullptr, 10),
                     hard == "none" ? RLIM_INFINITY : used + std::strtoul(argv[2], nullptr, 10)};
  // Before the limit, which may be near.
  std::puts("called");
  std::fflush(stdout);
  setrlimit(RLIMIT_CPU, &limit);
  for (int i = 1; i < std::atoi(argv[3]); ++i) {
    pthread_t thread;
    pthread_create(&thread, nullptr, compute, nullptr);
  }
  if (!returns) compute(nullptr);
  MPI_Finalize();
  while (used_seconds() < static_cast<double>(limit.rlim_cur) - 0.4) {
  }
  return 7;
}
