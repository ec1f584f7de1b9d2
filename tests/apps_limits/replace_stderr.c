/* Replaces stderr, as Ray's workers and daemons do, then writes "data" and a newline to descriptor 2.
   Usage: replace_stderr HOW PATH [before]
   HOW: dup = dup2() of PATH over descriptor 2, twice; open = close descriptor 2, then open PATH.
   before: before MPI_Init, not after. */
#include <fcntl.h>
#include <mpi.h>
#include <string.h>
#include <unistd.h>

static int replace(const char* how, const char* path) {
  if (strcmp(how, "open") == 0) close(2);
  const int fd = open(path, O_WRONLY | O_CREAT | O_APPEND, 0644);
  if (fd < 0) return 1;
  if (strcmp(how, "dup") == 0) {
    dup2(fd, 2);
    dup2(fd, 2);
    close(fd);
  }
  return write(2, "data\n", 5) != 5;
}

int main(int argc, char** argv) {
  if (argc < 3) return 2;
  const int before = argc > 3;
  if (before && replace(argv[1], argv[2]) != 0) return 3;
  MPI_Init(&argc, &argv);
  if (!before && replace(argv[1], argv[2]) != 0) return 3;
  for (int i = 0; i < 20; ++i) MPI_Barrier(MPI_COMM_WORLD);
  MPI_Finalize();
  return 0;
}
