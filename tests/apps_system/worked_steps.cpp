// Begins steps with MPI_Barrier and prints what the kernel counted for this thread in each, at least and at most: a
// step begins somewhere in the barrier, and a thread may lose its core there.
//   worked_steps [cpu MICROSECONDS | sleep MICROSECONDS | touch PAGES] ...     one step for each pair
#include <linux/perf_event.h>
#include <mpi.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

namespace {

struct Used {
  long cpu_us = 0, task_clock_us = 0, page_faults = 0, context_switches = 0;
};

/// The task clock has the time that a hypervisor takes from this machine, which the thread's CPU clock leaves out.
int open_task_clock() {
  perf_event_attr attributes{};
  attributes.size = sizeof attributes;
  attributes.type = PERF_TYPE_SOFTWARE;
  attributes.config = PERF_COUNT_SW_TASK_CLOCK;
  return static_cast<int>(syscall(SYS_perf_event_open, &attributes, 0, -1, -1, 0));
}

/// Returns 0 if the kernel refuses the counter.
long task_clock_us() {
  static const int counter = open_task_clock();
  long ns = 0;
  return read(counter, &ns, sizeof ns) == sizeof ns ? ns / 1000 : 0;
}

Used used() {
  rusage use{};
  getrusage(RUSAGE_THREAD, &use);
  // The times of getrusage() are old by up to a tick of the kernel.
  timespec cpu{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &cpu);
  return {cpu.tv_sec * 1'000'000 + cpu.tv_nsec / 1000, task_clock_us(), use.ru_minflt + use.ru_majflt,
          use.ru_nvcsw + use.ru_nivcsw};
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

Used operator-(const Used& later, const Used& earlier) {
  return {later.cpu_us - earlier.cpu_us, later.task_clock_us - earlier.task_clock_us,
          later.page_faults - earlier.page_faults, later.context_switches - earlier.context_switches};
}

struct Barrier {
  Used before, after;
};

Barrier begin_step() {
  Barrier barrier{.before = used(), .after = {}};
  MPI_Barrier(MPI_COMM_WORLD);
  barrier.after = used();
  return barrier;
}

void print(const char* name, long least, long most) { std::printf(" %s %ld %s_most %ld", name, least, name, most); }

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  std::vector<Barrier> barriers;
  for (int i = 1; i + 1 < argc; i += 2) {
    barriers.push_back(begin_step());
    const std::string what = argv[i];
    const long amount = std::atol(argv[i + 1]);
    if (what == "cpu") use_cpu(amount);
    if (what == "sleep") usleep(static_cast<useconds_t>(amount));
    if (what == "touch") touch(static_cast<std::size_t>(amount));
  }
  barriers.push_back(begin_step());
  for (std::size_t i = 0; i + 1 < barriers.size(); ++i) {
    const Used least = barriers[i + 1].before - barriers[i].after, most = barriers[i + 1].after - barriers[i].before;
    std::printf("step %zu", i);
    print("cpu_us", least.cpu_us, most.cpu_us);
    print("task_clock_us", least.task_clock_us, most.task_clock_us);
    print("page_faults", least.page_faults, most.page_faults);
    print("context_switches", least.context_switches, most.context_switches);
    std::printf("\n");
  }
  std::fflush(stdout);
  MPI_Finalize();
}
