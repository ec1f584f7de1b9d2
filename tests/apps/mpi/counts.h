/* What a test program knows of its own calls: counted where they are made, printed as one JSON line for each function.
   COUNT(MPI_Send)(...) calls and counts. With COUNTS_FILE set, rank R writes to $COUNTS_FILE.R: launchers that merge the
   output of ranks cut long outputs in the middle of a line. */
#pragma once
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define COUNTS_MAX 512
static struct {
  const char* name;
  long calls;
} counts_table[COUNTS_MAX];

static inline void count_calls(const char* name, long calls) {
  for (int i = 0; i < COUNTS_MAX; ++i) {
    if (counts_table[i].name == NULL) counts_table[i].name = name;
    if (strcmp(counts_table[i].name, name) == 0) {
      counts_table[i].calls += calls;
      return;
    }
  }
}

static inline void print_counts(int rank) {
  const char* const prefix = getenv("COUNTS_FILE");
  char path[4096];
  snprintf(path, sizeof path, "%s.%d", prefix != NULL ? prefix : "", rank);
  FILE* const out = prefix != NULL ? fopen(path, "w") : stdout;
  if (out == NULL) {
    perror(path);
    exit(2);
  }
  for (int i = 0; i < COUNTS_MAX && counts_table[i].name != NULL; ++i) {
    fprintf(out, "{\"rank\": %d, \"function\": \"%s\", \"count\": %ld}\n", rank, counts_table[i].name,
            counts_table[i].calls);
  }
  fflush(out);
}

#define COUNT(function) (count_calls(#function, 1), function)
