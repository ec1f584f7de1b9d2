#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

int main(int argc, char** argv) {
  const double seconds = argc > 1 ? atof(argv[1]) : 1;
  long slow = 0;
  MPI_Init(&argc, &argv);
  double out = 1, in = 0, now = MPI_Wtime();
  const double until = now + seconds;
  for (long i = 0; now < until; ++i) {
    const double before = now;
    MPI_Barrier(MPI_COMM_WORLD);
    if (i % 100 == 99) MPI_Allreduce(&out, &in, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    now = MPI_Wtime();
    slow += now - before > 1;
    if (i % 100 == 99) usleep(2000);
  }
  MPI_Finalize();
  printf("%ld calls took longer than a second\n", slow);
  return 0;
}
