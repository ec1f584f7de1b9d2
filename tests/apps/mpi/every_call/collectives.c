#include "parts.h"

/* A row stands for MPI_X, MPI_IX and MPI_X_init. A row in C() also stands for their forms with large counts (_c). */
#define COLLECTIVES(P, S, C, K, D, W)                                                                \
  S(P(Barrier, barrier), (K))                                                                        \
  C(P(Bcast, bcast), (in, 4, MPI_DOUBLE, 0, K))                                                      \
  C(P(Gather, gather), (out, 2, MPI_DOUBLE, in, 2, MPI_DOUBLE, 0, K))                                \
  C(P(Gatherv, gatherv), (out, 1, MPI_DOUBLE, in, D, W, MPI_DOUBLE, 0, K))                           \
  C(P(Scatter, scatter), (out, 2, MPI_DOUBLE, in, 2, MPI_DOUBLE, 0, K))                              \
  C(P(Scatterv, scatterv), (out, D, W, MPI_DOUBLE, in, 1, MPI_DOUBLE, 0, K))                         \
  C(P(Allgather, allgather), (out, 1, MPI_DOUBLE, in, 1, MPI_DOUBLE, K))                             \
  C(P(Allgatherv, allgatherv), (out, 1, MPI_DOUBLE, in, D, W, MPI_DOUBLE, K))                        \
  C(P(Alltoall, alltoall), (out, 1, MPI_DOUBLE, in, 1, MPI_DOUBLE, K))                               \
  C(P(Alltoallv, alltoallv), (out, D, W, MPI_DOUBLE, in, D, W, MPI_DOUBLE, K))                       \
  C(P(Alltoallw, alltoallw), (out, D, W, types, in, D, W, types, K))                                 \
  C(P(Reduce, reduce), (out, in, 2, MPI_DOUBLE, MPI_SUM, 0, K))                                      \
  C(P(Allreduce, allreduce), (out, in, 2, MPI_DOUBLE, MPI_MAX, K))                                   \
  C(P(Reduce_scatter, reduce_scatter), (out, in, D, MPI_DOUBLE, MPI_MIN, K))                         \
  C(P(Reduce_scatter_block, reduce_scatter_block), (out, in, 1, MPI_DOUBLE, MPI_PROD, K))            \
  C(P(Scan, scan), (out, in, 1, MPI_DOUBLE, MPI_SUM, K))                                             \
  C(P(Exscan, exscan), (out, in, 1, MPI_DOUBLE, MPI_SUM, K))                                         \
  C(P(Neighbor_allgather, neighbor_allgather), (out, 1, MPI_DOUBLE, in, 1, MPI_DOUBLE, graph))       \
  C(P(Neighbor_allgatherv, neighbor_allgatherv), (out, 1, MPI_DOUBLE, in, D, W, MPI_DOUBLE, graph))  \
  C(P(Neighbor_alltoall, neighbor_alltoall), (out, 1, MPI_DOUBLE, in, 1, MPI_DOUBLE, graph))         \
  C(P(Neighbor_alltoallv, neighbor_alltoallv), (out, D, W, MPI_DOUBLE, in, D, W, MPI_DOUBLE, graph)) \
  C(P(Neighbor_alltoallw, neighbor_alltoallw), (out, D, wide_places, types, in, D, wide_places, types, graph))

#define UNWRAP(...) __VA_ARGS__
#define BLOCKING(name, arguments) COUNT(name) arguments;
#define NONBLOCKING(name, arguments) POSTED(COUNT(name)(UNWRAP arguments, &request));
#define PERSISTENT(name, arguments) PREPARED(COUNT(name)(UNWRAP arguments, MPI_INFO_NULL, &request));
#define SKIP(name, arguments)

#define NAME(upper, lower) MPI_##upper
#define NAME_I(upper, lower) MPI_I##lower
#define NAME_INIT(upper, lower) MPI_##upper##_init
#define NAME_X_INIT(upper, lower) MPIX_##upper##_init
#define NAME_C(upper, lower) MPI_##upper##_c
#define NAME_I_C(upper, lower) MPI_I##lower##_c
#define NAME_INIT_C(upper, lower) MPI_##upper##_init_c

void collectives(void) {
  const MPI_Comm world = MPI_COMM_WORLD;
  COLLECTIVES(NAME, BLOCKING, BLOCKING, world, counts_of, places)
  COLLECTIVES(NAME_I, NONBLOCKING, NONBLOCKING, world, counts_of, places)
#if MPI_VERSION >= 4
  static MPI_Count large_counts[kMax];
  for (int i = 0; i < kMax; ++i) large_counts[i] = counts_of[i];
  COLLECTIVES(NAME_INIT, PERSISTENT, PERSISTENT, world, counts_of, places)
  COLLECTIVES(NAME_C, SKIP, BLOCKING, world, large_counts, wide_places)
  COLLECTIVES(NAME_I_C, SKIP, NONBLOCKING, world, large_counts, wide_places)
  COLLECTIVES(NAME_INIT_C, SKIP, PERSISTENT, world, large_counts, wide_places)
#elif defined(OMPI_HAVE_MPI_EXT_PCOLLREQ)
  COLLECTIVES(NAME_X_INIT, PERSISTENT, PERSISTENT, world, counts_of, places)
#endif
}
