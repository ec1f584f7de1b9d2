// `counts` ends at a protected page, so a hook that reads beyond its end crashes.
#include <mpi.h>
#include <sys/mman.h>

#include <cstdio>

int main(int argc, char** argv) {
  constexpr int kPage = 4096, kElements = 12;
  MPI_Init(&argc, &argv);
  int rank, own_size;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm own, between;
  MPI_Comm_split(MPI_COMM_WORLD, rank > 0, rank, &own);
  MPI_Comm_size(own, &own_size);
  MPI_Intercomm_create(own, 0, MPI_COMM_WORLD, rank > 0 ? 0 : 1, 7, &between);
  char* const pages =
      static_cast<char*>(mmap(nullptr, 2 * kPage, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  mprotect(pages + kPage, kPage, PROT_NONE);
  int* const counts = reinterpret_cast<int*>(pages + kPage) - own_size;
  for (int i = 0; i < own_size; ++i) counts[i] = kElements / own_size;
  int sent[kElements] = {}, received[kElements];
  MPI_Reduce_scatter(sent, received, counts, MPI_INT, MPI_SUM, between);
  MPI_Reduce_scatter_block(sent, received, kElements / own_size, MPI_INT, MPI_SUM, between);
  MPI_Finalize();
  return 0;
}
