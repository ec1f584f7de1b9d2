/* profshim does not see PMPI_Comm_free(). MPI may then reuse the handle. */
#include "counts.h"

int main(int argc, char** argv) {
  COUNT(MPI_Init)(&argc, &argv);
  for (int i = 0; i < 20; ++i) {
    MPI_Comm comm;
    COUNT(MPI_Comm_dup)(MPI_COMM_WORLD, &comm);
    COUNT(MPI_Barrier)(comm);
    COUNT(MPI_Barrier)(comm);
    PMPI_Comm_free(&comm);
  }
  finalize_and_print_counts();
  return 0;
}
