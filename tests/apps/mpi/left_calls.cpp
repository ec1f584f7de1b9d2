// The error handler leaves MPI calls through an exception or longjmp().
#include <setjmp.h>

#include "counts.h"

static jmp_buf back;
static bool jumps;

static void leave(MPI_Comm*, int*, ...) {
  if (jumps) longjmp(back, 1);
  throw 5;
}

int main(int argc, char** argv) {
  int value = 0, sum = 0;
  COUNT(MPI_Init)(&argc, &argv);
  MPI_Errhandler handler;
  MPI_Comm_create_errhandler(leave, &handler);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, handler);
  volatile int left = 0;
  // 100 calls are more than profshim can hold open per thread.
  for (volatile int i = 0; i < 100; i = i + 1) {
    try {
      COUNT(MPI_Send)(&value, 1, MPI_INT, 99, 0, MPI_COMM_WORLD);
    } catch (int) {
      left = left + 1;
    }
  }
  jumps = true;
  for (volatile int i = 0; i < 100; i = i + 1) {
    if (setjmp(back) == 0) {
      COUNT(MPI_Send)(&value, 1, MPI_INT, 99, 0, MPI_COMM_WORLD);
    } else {
      left = left + 1;
    }
  }
  for (int i = 0; i < 10; ++i) COUNT(MPI_Allreduce)(&value, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  if (left != 200) return 1;
  finalize_and_print_counts();
  return 0;
}
