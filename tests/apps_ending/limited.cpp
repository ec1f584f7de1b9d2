// Runs into a timer or a limit after CALLS MPI calls.
//   usage: limited prof|virtual|file|realtime|files|lock|core CALLS [default|handler|ignored]
//   prof, virtual: an interval timer. file: RLIMIT_FSIZE. realtime: RLIMIT_RTTIME under SCHED_FIFO; exit status 77:
//   not permitted. files: takes all descriptors. lock: mlockall(). core: abort().
#include <fcntl.h>
#include <mpi.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

namespace {

constexpr int kNotPermitted = 77;
volatile sig_atomic_t handled = 0;

void on_signal(int) { handled = handled + 1; }

void call(int times) {
  int one = 1, sum = 0;
  for (int i = 0; i < times; ++i) MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_SELF);
}

void act(int number, const std::string& action) {
  signal(number, action == "handler" ? on_signal : action == "ignored" ? SIG_IGN : SIG_DFL);
}

/// Computes between its calls, which would fill a large trace.
void work() {
  call(1);
  for (int i = 0; i < 1'000'000; ++i) __asm__ volatile("");
}

/// With SIG_IGN, the timer changes nothing: returns after half a second of CPU time.
int run_into_timer(int which, int number, const std::string& action) {
  act(number, action);
  const itimerval every{{0, 20'000}, {0, 20'000}};
  setitimer(static_cast<__itimer_which>(which), &every, nullptr);
  const clock_t until = clock() + CLOCKS_PER_SEC / 2;
  while (action == "ignored" ? clock() < until : handled < 10) work();
  const itimerval none{};
  setitimer(static_cast<__itimer_which>(which), &none, nullptr);
  return handled >= 10 ? 4 : 3;
}

int run_into_file_size(const std::string& action) {
  act(SIGXFSZ, action);
  rlimit limit{};
  getrlimit(RLIMIT_FSIZE, &limit);
  limit.rlim_cur = 4096;
  setrlimit(RLIMIT_FSIZE, &limit);
  FILE* const file = tmpfile();
  const std::string text(4096, 'x');
  const ssize_t first = write(fileno(file), text.data(), text.size());
  const ssize_t second = write(fileno(file), text.data(), text.size());
  std::printf("wrote %zd, then %zd: %s; %d signals\n", first, second, std::strerror(errno), static_cast<int>(handled));
  return 4;
}

int run_into_realtime(const std::string& action) {
  act(SIGXCPU, action);
  const rlimit limit{200'000, 30'000'000};
  setrlimit(RLIMIT_RTTIME, &limit);
  const sched_param lowest{1};
  if (sched_setscheduler(0, SCHED_FIFO, &lowest) != 0) return kNotPermitted;
  const clock_t until = clock() + CLOCKS_PER_SEC / 2;
  while (action == "ignored" ? clock() < until : handled == 0) {
  }
  const sched_param none{};
  sched_setscheduler(0, SCHED_OTHER, &none);
  return handled > 0 ? 4 : 3;
}

/// Opens files until none can be opened for a third of a second: other threads may have some open for a moment.
int take_all_files() {
  int files = 0;
  for (int failures = 0; failures < 300;) {
    if (open("/dev/null", O_RDONLY) >= 0) {
      ++files;
      failures = 0;
    } else {
      ++failures;
      usleep(1000);
    }
  }
  std::printf("%d files, then: %s\n", files, std::strerror(errno));
  std::fflush(stdout);
  _exit(5);
}

int lock_memory() {
  errno = 0;
  const int result = mlockall(MCL_CURRENT | MCL_FUTURE);
  std::printf("mlockall: %d, %s\n", result, std::strerror(errno));
  return 4;
}

int run_into(const std::string& what, const std::string& action) {
  if (what == "prof") return run_into_timer(ITIMER_PROF, SIGPROF, action);
  if (what == "virtual") return run_into_timer(ITIMER_VIRTUAL, SIGVTALRM, action);
  if (what == "file") return run_into_file_size(action);
  if (what == "realtime") return run_into_realtime(action);
  if (what == "files") return take_all_files();
  if (what == "lock") return lock_memory();
  if (what == "core") std::abort();
  return 2;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) return 2;
  MPI_Init(&argc, &argv);
  call(std::atoi(argv[2]));
  std::puts("called");
  std::fflush(stdout);
  const int status = run_into(argv[1], argc > 3 ? argv[3] : "default");
  std::fflush(stdout);
  call(10);
  MPI_Finalize();
  return status;
}
