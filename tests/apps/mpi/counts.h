/* COUNT(MPI_Send)(...) counts a call and makes it. */
#pragma once
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define COUNTS_MAX 512
struct CallCount {
  const char* name;
  long calls;
};
/* All source files of the program share this table. */
__attribute__((weak, visibility("hidden"))) struct CallCount counts_table[COUNTS_MAX];

static inline void count_calls(const char* name, long calls) {
  for (int i = 0; i < COUNTS_MAX; ++i) {
    if (counts_table[i].name == NULL) counts_table[i].name = name;
    if (strcmp(counts_table[i].name, name) == 0) {
      counts_table[i].calls += calls;
      return;
    }
  }
}

/* Rank 0 prints for all ranks, because launchers mix the lines of ranks. profshim does not record PMPI calls. */
static inline void finalize_and_print_counts(void) {
  enum { kRoom = 1 << 16 };
  int rank, size, used = 0;
  count_calls("MPI_Finalize", 1);
  PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
  PMPI_Comm_size(MPI_COMM_WORLD, &size);
  char* const own = (char*)calloc(1, kRoom);
  char* const all = (char*)calloc(size, kRoom);
  for (int i = 0; i < COUNTS_MAX && counts_table[i].name != NULL; ++i) {
    used += snprintf(own + used, kRoom - used, "{\"rank\": %d, \"function\": \"%s\", \"count\": %ld}\n", rank,
                     counts_table[i].name, counts_table[i].calls);
  }
  PMPI_Gather(own, kRoom, MPI_CHAR, all, kRoom, MPI_CHAR, 0, MPI_COMM_WORLD);
  for (int i = 0; rank == 0 && i < size; ++i) fputs(all + (size_t)i * kRoom, stdout);
  fflush(stdout);
  free(all);
  free(own);
  MPI_Finalize();
}

#define COUNT(function) (count_calls(#function, 1), function)
