#include <mpi.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

int main(int argc, char** argv) {
  (void)argv;
  if (argc > 1) {
    const pid_t child = fork();
    if (child == 0) _exit(0);
    waitpid(child, NULL, 0);
  }
  if (argc > 100) MPI_Init(NULL, NULL);
  puts("done");
  return 0;
}
