#include <dlfcn.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include <stdexcept>
#include <thread>
#ifdef USE_MPI
#include <mpi.h>
#endif

#define SHAPE extern "C" [[gnu::noipa]]

volatile int sink;
int table[16] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16};

SHAPE int shape_plain(int a, int b) {
  sink = a;
  return a * 31 + b + table[b & 15];
}
SHAPE double shape_floats(double a, double b, double c, double d, double e, double f, double g, double h, double i) {
  sink = 1;
  return a + 2 * b + 3 * c + 4 * d + 5 * e + 6 * f + 7 * g + 8 * h + 9 * i;
}
SHAPE long shape_many(long a, long b, long c, long d, long e, long f, long g, long h) {
  sink = 2;
  return a + 2 * b + 3 * c + 4 * d + 5 * e + 6 * f + 7 * g + 8 * h;
}
SHAPE double shape_varargs(int n, ...) {
  va_list list;
  va_start(list, n);
  double sum = 0;
  for (int i = 0; i < n; ++i) sum += (i & 1) != 0 ? va_arg(list, double) : va_arg(list, int);
  va_end(list);
  return sum;
}
SHAPE long shape_recursive(long n) {
  sink = 3;
  if (n < 2) return n;
  long (*volatile self)(long) = shape_recursive;
  return self(n - 1) + self(n - 2);
}
struct Big {
  long v[6];
};
SHAPE Big shape_struct(long a) {
  Big big;
  for (long i = 0; i < 6; ++i) big.v[i] = a * i;
  sink = 4;
  return big;
}
SHAPE void shape_throws(int n) {
  sink = n;
  if (n % 2 == 0) throw std::runtime_error("even");
}
SHAPE int shape_global() { return sink ? table[sink & 15] : table[0]; }
SHAPE int shape_caller(int n) { return shape_plain(n, 1) + 1; }
SHAPE int shape_tiny() { return 0; }    // too short for the jump to the hook
SHAPE long shape_loop(const char* s) {  // in optimized code the loop begins at the entry
  long n = 0;
  do n = n * 3 + *s;
  while (*++s != 0);
  return n;
}
typedef float Wide __attribute__((vector_size(32)));
#ifdef __AVX__
SHAPE Wide shape_wide(Wide a, Wide b) {
  sink = 5;
  return a + b * a;
}
#endif
class Solver {
 public:
  [[gnu::noipa]] int shape_method(int n) {
    sink = n;
    total_ += n;
    return total_;
  }

 private:
  int total_ = 0;
};

static int failures;
#define CHECK(what) \
  if (!(what)) failures += fprintf(stderr, "wrong: %s\n", #what) > 0

int main(int argc, char** argv) {
#ifdef USE_MPI
  MPI_Init(&argc, &argv);
#endif
  int (*volatile by_pointer)(int, int) = shape_plain;
  for (int i = 0; i < 100; ++i) CHECK(by_pointer(i, 3) == i * 31 + 3 + 4);
  std::thread([] {
    for (int i = 0; i < 50; ++i) CHECK(shape_plain(i, 2) == i * 31 + 2 + 3);
  }).join();
  for (int i = 0; i < 20; ++i) CHECK(shape_caller(i) == i * 31 + 1 + 2 + 1);
  for (int i = 0; i < 10; ++i) CHECK(shape_floats(1, 2, 3, 4, 5, 6, 7, 8, i) == 204 + 9 * i);
  for (int i = 0; i < 11; ++i) CHECK(shape_many(1, 2, 3, 4, 5, 6, 7, i) == 140 + 8 * i);
  for (int i = 0; i < 12; ++i) CHECK(shape_varargs(6, 1, 0.5, 2, 0.25, 3, double(i)) == 6.75 + i);
  CHECK(shape_recursive(10) == 55);
  for (int i = 0; i < 13; ++i) CHECK(shape_struct(i).v[5] == 5 * i);
  int caught = 0;
  for (int i = 0; i < 14; ++i) {
    try {
      shape_throws(i);
    } catch (const std::runtime_error&) {
      ++caught;
    }
  }
  CHECK(caught == 7);
  for (int i = 0; i < 15; ++i) CHECK(shape_global() == table[sink & 15]);
  for (int i = 0; i < 16; ++i) CHECK(shape_tiny() == 0);
  for (int i = 0; i < 17; ++i) CHECK(shape_loop("ab") == 'a' * 3 + 'b');
#ifdef __AVX__
  for (int i = 0; i < 18; ++i) {
    const float f = float(i);
    const Wide r = shape_wide(Wide{1, 2, 3, 4, 5, 6, 7, f}, Wide{1, 1, 1, 1, 2, 2, 2, f});
    CHECK(r[0] == 2 && r[4] == 15 && r[6] == 21 && r[7] == f + f * f);
  }
#endif
  Solver solver;
  int last = 0;
  for (int i = 0; i < 19; ++i) last = solver.shape_method(1);
  CHECK(last == 19);
  if (argc > 1) {
    void* const plugin = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);
    auto* const step = plugin != nullptr ? (int (*)(int))dlsym(plugin, "shape_plugin") : nullptr;
    CHECK(step != nullptr);
    // profshim needs milliseconds to find the plugin.
    const timespec pause = {0, 300000000};
    nanosleep(&pause, nullptr);
    for (int i = 0; step != nullptr && i < 21; ++i) CHECK(step(i) == i + 1);
  }
#ifdef USE_MPI
  MPI_Finalize();
#endif
  printf(
      "shape_plain 170\nshape_caller 20\nshape_floats 10\nshape_many 11\nshape_varargs 12\nshape_recursive 177\n"
      "shape_struct 13\nshape_throws 14\nshape_global 15\nshape_tiny 16\nshape_loop 17\n"
      "Solver::shape_method(int) 19\n");
  return failures != 0;
}
