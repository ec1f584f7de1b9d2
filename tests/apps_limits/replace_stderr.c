/* Puts something else in the place of stderr, as Ray's workers and daemons do, or a program that has closed it and
   opens a data file: then makes some steps. Usage: replace_stderr HOW PATH [before] dup: PATH is opened and put over
   descriptor 2, twice; open: 2 is closed, and PATH is opened there; "before": before MPI_Init, else after it. Writes
   "data\n" to descriptor 2. */
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
