// Reinforcement learning in outline: rollouts, then actor training in micro-batches, in each step. Arguments: steps,
// micro-batches, and "leak" (a rollout that is never closed), "thread" (a thread ends inside its rollout), "overlap"
// (two threads have rollouts at once) or "slow" (the last rollout takes two seconds), or "hang" (it never ends).
#include <mpi.h>
#include <nvtx3/nvToolsExt.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void work(int calls) {
  for (int i = 0; i < calls; ++i) MPI_Barrier(MPI_COMM_SELF);
}

static void push(const char* name, int number) {
  char text[64];
  snprintf(text, sizeof text, "%s %d", name, number);
  nvtxRangePushA(text);
}

static void* ends_inside(void* unused) {
  nvtxRangePushA("rollout of a thread");
  work(5);
  return unused;
}

static void* overlaps(void* unused) {
  nvtxRangePushA("rollout of a thread");
  work(5);
  usleep(20000);
  nvtxRangePop();
  return unused;
}

static void actor_train(int step, int micro_batches) {
  push("actor_train", step);
  for (int i = 0; i < micro_batches; ++i) {
    push("micro_batch", i);
    work(2);
    nvtxRangePop();
  }
  nvtxRangePushA("update_weights");
  work(1);
  nvtxRangePop();
  nvtxRangePop();
}

int main(int argc, char** argv) {
  const int steps = argc > 1 ? atoi(argv[1]) : 6, micro_batches = argc > 2 ? atoi(argv[2]) : 4;
  const char* const how = argc > 3 ? argv[3] : "";
  int provided;
  pthread_t thread;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  nvtxRangePushA("session");
  for (int step = 0; step < steps; ++step) {
    push("rl_step", step);
    push("rollout", step);
    work(3);
    if (strcmp(how, "thread") == 0) pthread_create(&thread, NULL, ends_inside, NULL);
    if (strcmp(how, "overlap") == 0) pthread_create(&thread, NULL, overlaps, NULL);
    if (strcmp(how, "thread") == 0 || strcmp(how, "overlap") == 0) pthread_join(thread, NULL);
    if (strcmp(how, "slow") == 0 && step == steps - 1) sleep(2);
    if (strcmp(how, "hang") == 0 && step == steps - 1) sleep(60);
    nvtxRangePop();
    actor_train(step, micro_batches);
    work(1);
    nvtxRangePop();
  }
  if (strcmp(how, "leak") == 0) {
    nvtxRangePushA("rollout that is never closed");
    work(4);
    usleep(200000);
  }
  printf("%d steps\n", steps);
  MPI_Finalize();
  return 0;
}
