#include <mpi.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <string>

int main(int argc, char** argv) {
  const std::string how = argc > 1 ? argv[1] : "exit";
  MPI_Init(&argc, &argv);
  int one = 1, sum = 0;
  for (int i = 0; i < 100; ++i) MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  const pid_t child = fork();
  if (child == 0) {
    if (how == "_exit") _exit(7);
    exit(7);
  }
  for (int i = 0; i < 100; ++i) MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  int status = 0;
  waitpid(child, &status, 0);
  MPI_Finalize();
  std::printf("child %d\n", WEXITSTATUS(status));
  return 0;
}
