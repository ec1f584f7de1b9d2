#pragma once
#include <mpi.h>
#ifdef OPEN_MPI
#include <mpi-ext.h>
#endif
#include <stdlib.h>

#include "../counts.h"

enum { kMax = 64, kTag = 11 };

/* An MPI library may export the same names. */
#pragma GCC visibility push(hidden)

extern int rank, size, left, right;
extern double in[4 * kMax], out[4 * kMax];
extern int counts_of[kMax], places[kMax];
extern MPI_Aint wide_places[kMax];
extern MPI_Datatype types[kMax];
extern MPI_Comm graph; /* a ring of ranks */
extern MPI_Request request;

void collectives(void);
void point_to_point(void);
void partitioned(void);
void completions(void);
void communicators(void);
void sessions(void);
void ports(void);
void own_types(void);
void one_sided(void);
void files(void);

#pragma GCC visibility pop

#define WAIT_ONE() COUNT(MPI_Wait)(&request, MPI_STATUS_IGNORE)
#define POSTED(...) \
  do {              \
    __VA_ARGS__;    \
    WAIT_ONE();     \
  } while (0)
#define PREPARED(...)                      \
  do {                                     \
    __VA_ARGS__;                           \
    for (int turn = 0; turn < 2; ++turn) { \
      COUNT(MPI_Start)(&request);          \
      WAIT_ONE();                          \
    }                                      \
    COUNT(MPI_Request_free)(&request);     \
  } while (0)

#define BUFFER out, 4, MPI_DOUBLE
#define RECEIVE(count_name) COUNT(count_name)(in, 4, MPI_DOUBLE, left, kTag, MPI_COMM_WORLD, MPI_STATUS_IGNORE)
#define TO_RIGHT right, kTag, MPI_COMM_WORLD
#define FROM_LEFT left, kTag, MPI_COMM_WORLD
