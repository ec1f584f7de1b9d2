// Functions that end in every way. Each calls MPI_Barrier once, except where a comment says otherwise.
#include <execinfo.h>
#include <mpi.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdio.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

#include <stdexcept>
#include <string>

#define PHASE extern "C" [[gnu::noipa]]

static void barrier() { MPI_Barrier(MPI_COMM_SELF); }

static jmp_buf before_call;
PHASE void phase_jumps(int jumps) {
  barrier();
  if (jumps) longjmp(before_call, 1);
}
PHASE void phase_ends_thread() {
  barrier();
  pthread_exit(nullptr);
}
PHASE int phase_counts_frames() {  // no call of MPI
  void* frames[64];
  return backtrace(frames, 64);
}
PHASE long double phase_long_double(long double x) {
  barrier();
  return x * 3;
}
PHASE std::string phase_text(int n) {
  barrier();
  if (n == 3) throw std::out_of_range("three");
  return std::string(100, static_cast<char>('a' + n));
}
PHASE int phase_around(int n) {  // by phase_text()
  try {
    return static_cast<int>(phase_text(n).size());
  } catch (const std::runtime_error&) {
    return -1;
  }
}
// The compiler makes jumps of the calls: they return where the function in front would.
PHASE int phase_last(int n) {
  barrier();
  if (n == 3) throw std::out_of_range("three");
  return n + 1;
}
PHASE int phase_middle(int n) {
  barrier();
  return phase_last(n + 1);
}
PHASE int phase_first(int n) {
  barrier();
  return phase_middle(n + 1);
}
PHASE int phase_recursive(int depth) {
  barrier();
  return depth == 0 ? 0 : 1 + phase_recursive(depth - 1);
}
PHASE pid_t phase_forks() {
  barrier();
  return fork();
}
static ucontext_t outside, fiber;
PHASE void phase_on_fiber() {  // three times
  for (int i = 0; i < 3; ++i) {
    barrier();
    swapcontext(&fiber, &outside);
  }
}
[[gnu::noipa]] static int frames_without_phase() {
  void* frames[64];
  return backtrace(frames, 64);
}

static int failures;
#define CHECK(what) \
  if (!(what)) failures += fprintf(stderr, "wrong: %s\n", #what) > 0

static void switch_stacks() {
  static char stack[1 << 18];
  getcontext(&fiber);
  fiber.uc_stack.ss_sp = stack;
  fiber.uc_stack.ss_size = sizeof stack;
  fiber.uc_link = &outside;
  makecontext(
      &fiber, [] { phase_on_fiber(); }, 0);
  for (int i = 0; i < 4; ++i) {
    swapcontext(&outside, &fiber);
    phase_long_double(1);
  }
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  for (int i = 0; i < 1000; ++i) {
    if (setjmp(before_call) == 0) phase_jumps(i % 2);
  }
  for (int i = 0; i < 5; ++i) {
    pthread_t thread;
    pthread_create(
        &thread, nullptr,
        [](void*) -> void* {
          phase_ends_thread();
          return nullptr;
        },
        nullptr);
    pthread_join(thread, nullptr);
  }
  const int counted = phase_counts_frames(), direct = frames_without_phase();
  CHECK(counted >= direct && counted <= direct + 1);  // the slot of the return may be one more
  for (int i = 0; i < 10; ++i) CHECK(phase_long_double(i + 0.5L) == (i + 0.5L) * 3);
  int caught = 0;
  for (int i = 0; i < 6; ++i) {
    try {
      CHECK(phase_text(i) == std::string(100, static_cast<char>('a' + i)));
    } catch (const std::out_of_range&) {
      ++caught;
    }
    try {
      CHECK(phase_around(i) == 100);
    } catch (const std::out_of_range&) {
      ++caught;
    }
  }
  for (int i = 0; i < 4; ++i) {
    try {
      CHECK(phase_first(i) == i + 3);
    } catch (const std::out_of_range&) {
      ++caught;
    }
  }
  CHECK(caught == 3);
  CHECK(phase_recursive(20) == 20);
  switch_stacks();
  const pid_t child = phase_forks();
  if (child == 0) _exit(3);
  int status = 0;
  waitpid(child, &status, 0);
  CHECK(WEXITSTATUS(status) == 3);
  MPI_Finalize();
  printf("%s\n", failures == 0 ? "all as without profshim" : "wrong");
  return failures != 0;
}
