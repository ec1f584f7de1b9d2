// Begins steps with MPI_Barrier and prints what the kernel counted for this thread in each:
//   worked_steps [cpu MICROSECONDS | sleep MICROSECONDS | touch PAGES] ...     one step for each pair
#include <mpi.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

namespace {

struct Used {
  long cpu_us = 0, page_faults = 0, context_switches = 0;
};

Used used() {
  rusage use{};
  getrusage(RUSAGE_THREAD, &use);
  // The times of getrusage() are old by up to a tick of the kernel.
  timespec cpu{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &cpu);
  return {cpu.tv_sec * 1'000'000 + cpu.tv_nsec / 1000, use.ru_minflt + use.ru_majflt, use.ru_nvcsw + use.ru_nivcsw};
}

void use_cpu(long us) {
  volatile double sum = 0;
  for (const long end = used().cpu_us + us; used().cpu_us < end;) {
    for (int i = 0; i < 1000; ++i) sum = sum + i;
  }
}

void touch(std::size_t pages) {
  const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  void* const memory = mmap(nullptr, pages * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) std::abort();
  madvise(memory, pages * page, MADV_NOHUGEPAGE);
  for (std::size_t i = 0; i < pages; ++i) static_cast<volatile char*>(memory)[i * page] = 1;
  munmap(memory, pages * page);
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  std::vector<Used> at;
  for (int i = 1; i + 1 < argc; i += 2) {
    at.push_back(used());
    MPI_Barrier(MPI_COMM_WORLD);
    const std::string what = argv[i];
    const long amount = std::atol(argv[i + 1]);
    if (what == "cpu") use_cpu(amount);
    if (what == "sleep") usleep(static_cast<useconds_t>(amount));
    if (what == "touch") touch(static_cast<std::size_t>(amount));
  }
  at.push_back(used());
  MPI_Barrier(MPI_COMM_WORLD);
  for (std::size_t i = 0; i + 1 < at.size(); ++i) {
    std::printf("step %zu cpu_us %ld page_faults %ld context_switches %ld\n", i, at[i + 1].cpu_us - at[i].cpu_us,
                at[i + 1].page_faults - at[i].page_faults, at[i + 1].context_switches - at[i].context_switches);
  }
  std::fflush(stdout);
  MPI_Finalize();
}
