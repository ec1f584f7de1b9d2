/* Steps without MPI: each is a range and a call of marked_step(). */
#include <nvtx3/nvToolsExt.h>
#include <stdio.h>

__attribute__((noinline)) double marked_step(double value) {
  nvtxRangePushA("step");
  for (int i = 1; i < 100000; ++i) value += 1.0 / i;
  nvtxRangePop();
  return value;
}

int main(void) {
  double value = 0;
  for (int step = 0; step < 20; ++step) value = marked_step(value);
  printf("%.3f\n", value);
  return 0;
}
