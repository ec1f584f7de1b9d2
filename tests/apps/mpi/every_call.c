/* Calls every function of include/profshim/hooks/mpi.def that this MPI has and prints how often. A row that this MPI
   has and that is not called is printed with a count of 0. MPI_Init_thread, MPI_Abort and the functions that need
   another job are not called. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <mpi.h>
#ifdef OPEN_MPI
#include <mpi-ext.h>
#endif
#include <stdlib.h>
#include <unistd.h>

#include "counts.h"

enum { kMax = 64, kTag = 11 };

static int rank, size, left, right;
static double in[4 * kMax], out[4 * kMax];
static int counts_of[kMax], places[kMax];
static MPI_Aint wide_places[kMax];
static MPI_Datatype types[kMax];
static MPI_Comm graph; /* a ring: one neighbour to send to, one to receive from */
static MPI_Request request;

#define WAIT_ONE() COUNT(MPI_Wait)(&request, MPI_STATUS_IGNORE)
#define POSTED(...) \
  do {              \
    __VA_ARGS__;    \
    WAIT_ONE();     \
  } while (0)
/* A persistent operation: made, started twice, freed. */
#define PREPARED(...)                      \
  do {                                     \
    __VA_ARGS__;                           \
    for (int turn = 0; turn < 2; ++turn) { \
      COUNT(MPI_Start)(&request);          \
      WAIT_ONE();                          \
    }                                      \
    COUNT(MPI_Request_free)(&request);     \
  } while (0)

/* The PMPI function tells whether the MPI has the row: the library under test defines the MPI function of every row. */
static void count_rows_not_called(void) {
#define HOOK(name, ...) \
  if (dlsym(RTLD_DEFAULT, "P" #name) != NULL) count_calls(#name, 0);
#include "../../../include/profshim/hooks/mpi.def"
#undef HOOK
}

/* One list for all forms of a collective: X, IX, X_init, with and without large counts. */
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

static void collectives(void) {
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

#define BUFFER out, 4, MPI_DOUBLE
#define RECEIVE(count_name) COUNT(count_name)(in, 4, MPI_DOUBLE, left, kTag, MPI_COMM_WORLD, MPI_STATUS_IGNORE)
#define TO_RIGHT right, kTag, MPI_COMM_WORLD
#define FROM_LEFT left, kTag, MPI_COMM_WORLD

/* Ready sends need a receive that is posted already on the other side. */
static void ready_send(int kind) {
  MPI_Request receive;
  COUNT(MPI_Irecv)(in, 4, MPI_DOUBLE, FROM_LEFT, &receive);
  COUNT(MPI_Barrier)(MPI_COMM_WORLD);
  if (kind == 0) COUNT(MPI_Rsend)(BUFFER, TO_RIGHT);
  if (kind == 1) POSTED(COUNT(MPI_Irsend)(BUFFER, TO_RIGHT, &request));
#if MPI_VERSION >= 4
  if (kind == 2) COUNT(MPI_Rsend_c)(BUFFER, TO_RIGHT);
  if (kind == 3) POSTED(COUNT(MPI_Irsend_c)(BUFFER, TO_RIGHT, &request));
#endif
  COUNT(MPI_Wait)(&receive, MPI_STATUS_IGNORE);
  COUNT(MPI_Barrier)(MPI_COMM_WORLD);
}

/* A persistent ready send: each start comes after the start of the receive on the other side. */
#define PERSISTENT_READY_SEND(send_init, recv_init)           \
  do {                                                        \
    MPI_Request pair[2];                                      \
    COUNT(recv_init)(in, 4, MPI_DOUBLE, FROM_LEFT, &pair[0]); \
    COUNT(send_init)(BUFFER, TO_RIGHT, &pair[1]);             \
    COUNT(MPI_Start)(&pair[0]);                               \
    COUNT(MPI_Barrier)(MPI_COMM_WORLD);                       \
    COUNT(MPI_Start)(&pair[1]);                               \
    COUNT(MPI_Waitall)(2, pair, MPI_STATUSES_IGNORE);         \
    COUNT(MPI_Request_free)(&pair[0]);                        \
    COUNT(MPI_Request_free)(&pair[1]);                        \
  } while (0)

/* A persistent send with the receive that it needs. */
#define PERSISTENT_SEND(send_init, recv_init)                 \
  do {                                                        \
    MPI_Request pair[2];                                      \
    COUNT(recv_init)(in, 4, MPI_DOUBLE, FROM_LEFT, &pair[0]); \
    COUNT(send_init)(BUFFER, TO_RIGHT, &pair[1]);             \
    for (int turn = 0; turn < 2; ++turn) {                    \
      COUNT(MPI_Start)(&pair[0]);                             \
      COUNT(MPI_Barrier)(MPI_COMM_WORLD);                     \
      COUNT(MPI_Start)(&pair[1]);                             \
      COUNT(MPI_Waitall)(2, pair, MPI_STATUSES_IGNORE);       \
    }                                                         \
    COUNT(MPI_Startall)(2, pair);                             \
    COUNT(MPI_Waitall)(2, pair, MPI_STATUSES_IGNORE);         \
    COUNT(MPI_Request_free)(&pair[0]);                        \
    COUNT(MPI_Request_free)(&pair[1]);                        \
  } while (0)

static void point_to_point(void) {
  static char attached[1 << 16];
  MPI_Status status;
  MPI_Message message;
  int flag = 0;
  MPI_Buffer_attach(attached, sizeof attached);

  /* blocking sends, into a receive that is posted first: a ring must not rely on buffering */
#define SEND_AND_RECEIVE(send)                                \
  do {                                                        \
    MPI_Request receive;                                      \
    COUNT(MPI_Irecv)(in, 4, MPI_DOUBLE, FROM_LEFT, &receive); \
    COUNT(send)(BUFFER, TO_RIGHT);                            \
    COUNT(MPI_Wait)(&receive, MPI_STATUS_IGNORE);             \
  } while (0)
#define ISEND_AND_RECEIVE(send, receive)     \
  do {                                       \
    COUNT(send)(BUFFER, TO_RIGHT, &request); \
    RECEIVE(receive);                        \
    WAIT_ONE();                              \
  } while (0)
  SEND_AND_RECEIVE(MPI_Send);
  SEND_AND_RECEIVE(MPI_Bsend);
  SEND_AND_RECEIVE(MPI_Ssend);
  ready_send(0);
  ready_send(1);
  ISEND_AND_RECEIVE(MPI_Isend, MPI_Recv);
  ISEND_AND_RECEIVE(MPI_Ibsend, MPI_Recv);
  ISEND_AND_RECEIVE(MPI_Issend, MPI_Recv);
  PERSISTENT_SEND(MPI_Send_init, MPI_Recv_init);
  PERSISTENT_SEND(MPI_Bsend_init, MPI_Recv_init);
  PERSISTENT_SEND(MPI_Ssend_init, MPI_Recv_init);
  PERSISTENT_READY_SEND(MPI_Rsend_init, MPI_Recv_init);
  COUNT(MPI_Sendrecv)(BUFFER, right, kTag, in, 4, MPI_DOUBLE, left, kTag, MPI_COMM_WORLD, &status);
  COUNT(MPI_Sendrecv_replace)(in, 4, MPI_DOUBLE, right, kTag, left, kTag, MPI_COMM_WORLD, &status);

  COUNT(MPI_Isend)(BUFFER, TO_RIGHT, &request);
  COUNT(MPI_Probe)(FROM_LEFT, &status);
  COUNT(MPI_Iprobe)(FROM_LEFT, &flag, &status);
  COUNT(MPI_Mprobe)(FROM_LEFT, &message, &status);
  COUNT(MPI_Mrecv)(in, 4, MPI_DOUBLE, &message, &status);
  WAIT_ONE();
  COUNT(MPI_Isend)(BUFFER, TO_RIGHT, &request);
  COUNT(MPI_Probe)(FROM_LEFT, &status);
  COUNT(MPI_Improbe)(FROM_LEFT, &flag, &message, &status);
  if (!flag) MPI_Abort(MPI_COMM_WORLD, 3);
  MPI_Request receive;
  COUNT(MPI_Imrecv)(in, 4, MPI_DOUBLE, &message, &receive);
  COUNT(MPI_Wait)(&receive, &status);
  WAIT_ONE();

#if MPI_VERSION >= 4
  SEND_AND_RECEIVE(MPI_Send_c);
  SEND_AND_RECEIVE(MPI_Bsend_c);
  SEND_AND_RECEIVE(MPI_Ssend_c);
  ready_send(2);
  ready_send(3);
  ISEND_AND_RECEIVE(MPI_Isend_c, MPI_Recv_c);
  ISEND_AND_RECEIVE(MPI_Ibsend_c, MPI_Recv_c);
  ISEND_AND_RECEIVE(MPI_Issend_c, MPI_Recv_c);
  PERSISTENT_SEND(MPI_Send_init_c, MPI_Recv_init_c);
  PERSISTENT_SEND(MPI_Bsend_init_c, MPI_Recv_init_c);
  PERSISTENT_SEND(MPI_Ssend_init_c, MPI_Recv_init_c);
  PERSISTENT_READY_SEND(MPI_Rsend_init_c, MPI_Recv_init_c);
  COUNT(MPI_Irecv_c)(in, 4, MPI_DOUBLE, FROM_LEFT, &receive);
  COUNT(MPI_Send)(BUFFER, TO_RIGHT);
  COUNT(MPI_Wait)(&receive, MPI_STATUS_IGNORE);
  COUNT(MPI_Sendrecv_c)(BUFFER, right, kTag, in, 4, MPI_DOUBLE, left, kTag, MPI_COMM_WORLD, &status);
  COUNT(MPI_Sendrecv_replace_c)(in, 4, MPI_DOUBLE, right, kTag, left, kTag, MPI_COMM_WORLD, &status);
  POSTED(COUNT(MPI_Isendrecv)(BUFFER, right, kTag, in, 4, MPI_DOUBLE, left, kTag, MPI_COMM_WORLD, &request));
  POSTED(COUNT(MPI_Isendrecv_replace)(in, 4, MPI_DOUBLE, right, kTag, left, kTag, MPI_COMM_WORLD, &request));
  POSTED(COUNT(MPI_Isendrecv_c)(BUFFER, right, kTag, in, 4, MPI_DOUBLE, left, kTag, MPI_COMM_WORLD, &request));
  POSTED(COUNT(MPI_Isendrecv_replace_c)(in, 4, MPI_DOUBLE, right, kTag, left, kTag, MPI_COMM_WORLD, &request));
  COUNT(MPI_Isend)(BUFFER, TO_RIGHT, &request);
  COUNT(MPI_Mprobe)(FROM_LEFT, &message, &status);
  COUNT(MPI_Mrecv_c)(in, 4, MPI_DOUBLE, &message, &status);
  WAIT_ONE();
  COUNT(MPI_Isend)(BUFFER, TO_RIGHT, &request);
  COUNT(MPI_Mprobe)(FROM_LEFT, &message, &status);
  COUNT(MPI_Imrecv_c)(in, 4, MPI_DOUBLE, &message, &receive);
  COUNT(MPI_Wait)(&receive, &status);
  WAIT_ONE();
#endif
  int attached_size;
  void* buffer;
  MPI_Buffer_detach(&buffer, &attached_size);
}

static void partitioned(void) {
#if MPI_VERSION >= 4
  enum { kPartitions = 4 };
  int list[] = {3};
  MPI_Request pair[2];
  int flag = 0;
  COUNT(MPI_Precv_init)(in, kPartitions, 1, MPI_DOUBLE, FROM_LEFT, MPI_INFO_NULL, &pair[0]);
  COUNT(MPI_Psend_init)(out, kPartitions, 1, MPI_DOUBLE, TO_RIGHT, MPI_INFO_NULL, &pair[1]);
  COUNT(MPI_Startall)(2, pair);
  COUNT(MPI_Pready)(0, pair[1]);
  COUNT(MPI_Pready_range)(1, 2, pair[1]);
  COUNT(MPI_Pready_list)(1, list, pair[1]);
  COUNT(MPI_Parrived)(pair[0], 0, &flag);
  COUNT(MPI_Waitall)(2, pair, MPI_STATUSES_IGNORE);
  COUNT(MPI_Request_free)(&pair[0]);
  COUNT(MPI_Request_free)(&pair[1]);
#endif
}

static void completions(void) {
  MPI_Request pair[2];
  MPI_Status statuses[2];
  int index, flag, done, indices[2];
#define POST_PAIR()                                           \
  do {                                                        \
    COUNT(MPI_Irecv)(in, 4, MPI_DOUBLE, FROM_LEFT, &pair[0]); \
    COUNT(MPI_Isend)(BUFFER, TO_RIGHT, &pair[1]);             \
  } while (0)
#define FINISH_PAIR() COUNT(MPI_Waitall)(2, pair, MPI_STATUSES_IGNORE)
  POST_PAIR();
  COUNT(MPI_Waitany)(2, pair, &index, statuses);
  COUNT(MPI_Waitany)(2, pair, &index, statuses);
  POST_PAIR();
  COUNT(MPI_Waitsome)(2, pair, &done, indices, statuses);
  FINISH_PAIR();
  POST_PAIR();
  COUNT(MPI_Testall)(2, pair, &flag, statuses);
  FINISH_PAIR();
  POST_PAIR();
  COUNT(MPI_Testany)(2, pair, &index, &flag, statuses);
  FINISH_PAIR();
  POST_PAIR();
  COUNT(MPI_Testsome)(2, pair, &done, indices, statuses);
  FINISH_PAIR();
  POST_PAIR();
  COUNT(MPI_Request_get_status)(pair[1], &flag, statuses);
  COUNT(MPI_Test)(&pair[0], &flag, statuses);
  FINISH_PAIR();
  COUNT(MPI_Irecv)(in, 4, MPI_DOUBLE, left, 999, MPI_COMM_WORLD, &request);
  COUNT(MPI_Cancel)(&request);
  WAIT_ONE();
}

static void communicators(void) {
  MPI_Comm comm, other;
  MPI_Group group;
  int dims[1] = {size}, period[1] = {1}, keep[1] = {1}, index[kMax], edges[2 * kMax], degree[1] = {1};
  COUNT(MPI_Comm_dup)(MPI_COMM_WORLD, &comm);
  COUNT(MPI_Comm_set_name)(comm, "a copy");
  COUNT(MPI_Barrier)(comm);
  COUNT(MPI_Comm_disconnect)(&comm);
  COUNT(MPI_Comm_dup_with_info)(MPI_COMM_WORLD, MPI_INFO_NULL, &comm);
  COUNT(MPI_Comm_free)(&comm);
  POSTED(COUNT(MPI_Comm_idup)(MPI_COMM_WORLD, &comm, &request));
  COUNT(MPI_Barrier)(comm);
  COUNT(MPI_Comm_free)(&comm);
  COUNT(MPI_Comm_split)(MPI_COMM_WORLD, rank == 0 ? MPI_UNDEFINED : 1, rank, &comm);
  if (comm != MPI_COMM_NULL) COUNT(MPI_Comm_free)(&comm);
  COUNT(MPI_Comm_split_type)(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &comm);
  COUNT(MPI_Barrier)(comm);
  COUNT(MPI_Comm_free)(&comm);
  MPI_Comm_group(MPI_COMM_WORLD, &group);
  COUNT(MPI_Comm_create)(MPI_COMM_WORLD, group, &comm);
  COUNT(MPI_Comm_free)(&comm);
  COUNT(MPI_Comm_create_group)(MPI_COMM_WORLD, group, 5, &comm);
  COUNT(MPI_Barrier)(comm);
  COUNT(MPI_Comm_free)(&comm);
  COUNT(MPI_Cart_create)(MPI_COMM_WORLD, 1, dims, period, 0, &comm);
  COUNT(MPI_Cart_sub)(comm, keep, &other);
  COUNT(MPI_Barrier)(other);
  COUNT(MPI_Comm_free)(&other);
  COUNT(MPI_Comm_free)(&comm);
  for (int i = 0; i < size; ++i) {
    index[i] = i + 1;
    edges[i] = (i + 1) % size;
  }
  COUNT(MPI_Graph_create)(MPI_COMM_WORLD, size, index, edges, 0, &comm);
  COUNT(MPI_Comm_free)(&comm);
  COUNT(MPI_Dist_graph_create)(MPI_COMM_WORLD, 1, &rank, degree, &right, MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &comm);
  COUNT(MPI_Comm_free)(&comm);
  /* two halves, an intercommunicator between them, and the halves merged again */
  COUNT(MPI_Comm_split)(MPI_COMM_WORLD, rank % 2, rank, &comm);
  MPI_Comm between, merged;
  COUNT(MPI_Intercomm_create)(comm, 0, MPI_COMM_WORLD, 1 - rank % 2, 6, &between);
  COUNT(MPI_Barrier)(between);
  COUNT(MPI_Intercomm_merge)(between, rank % 2, &merged);
  COUNT(MPI_Allreduce)(out, in, 1, MPI_DOUBLE, MPI_SUM, merged);
  COUNT(MPI_Comm_free)(&merged);
  COUNT(MPI_Comm_free)(&between);
  COUNT(MPI_Comm_free)(&comm);
#if MPI_VERSION >= 4
  POSTED(COUNT(MPI_Comm_idup_with_info)(MPI_COMM_WORLD, MPI_INFO_NULL, &comm, &request));
  COUNT(MPI_Comm_free)(&comm);
#endif
  MPI_Group_free(&group);
}

static void sessions(void) {
#if MPI_VERSION >= 4
  MPI_Session session;
  MPI_Group world, half;
  MPI_Comm comm;
  int first = rank % 2;
  COUNT(MPI_Session_init)(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &session);
  MPI_Group_from_session_pset(session, "mpi://WORLD", &world);
  COUNT(MPI_Comm_create_from_group)(world, "profshim", MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &comm);
  COUNT(MPI_Barrier)(comm);
  COUNT(MPI_Comm_free)(&comm);
  if (rank < 2) { /* two groups of one rank each */
    int other = 1 - first;
    MPI_Group remote;
    MPI_Group_incl(world, 1, &first, &half);
    MPI_Group_incl(world, 1, &other, &remote);
    COUNT(MPI_Intercomm_create_from_groups)
    (half, 0, remote, 0, "profshim", MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &comm);
    COUNT(MPI_Comm_free)(&comm);
    MPI_Group_free(&half);
    MPI_Group_free(&remote);
  }
  MPI_Group_free(&world);
  COUNT(MPI_Session_finalize)(&session);
#endif
}

/* MPICH's device for UCX has no ports. */
static void ports(void) {
#ifdef OPEN_MPI
  char port[MPI_MAX_PORT_NAME] = "";
  MPI_Comm between;
  if (rank == 0) MPI_Open_port(MPI_INFO_NULL, port);
  COUNT(MPI_Bcast)(port, sizeof port, MPI_CHAR, 0, MPI_COMM_WORLD);
  if (rank == 0) COUNT(MPI_Comm_accept)(port, MPI_INFO_NULL, 0, MPI_COMM_SELF, &between);
  if (rank == 1) COUNT(MPI_Comm_connect)(port, MPI_INFO_NULL, 0, MPI_COMM_SELF, &between);
  if (rank < 2) COUNT(MPI_Comm_disconnect)(&between);
  if (rank == 0) MPI_Close_port(port);
#endif
}

static void own_operation(void* a, void* b, int* n, MPI_Datatype* type) {
  (void)type;
  for (int i = 0; i < *n; ++i) ((double*)b)[i] += ((double*)a)[i];
}

static void own_types(void) {
  MPI_Datatype pair;
  MPI_Op op;
  MPI_Type_contiguous(2, MPI_DOUBLE, &pair);
  MPI_Type_commit(&pair);
  COUNT(MPI_Bcast)(in, 3, pair, 0, MPI_COMM_WORLD);
  COUNT(MPI_Type_free)(&pair);
  MPI_Op_create(own_operation, 1, &op);
  COUNT(MPI_Allreduce)(out, in, 2, MPI_DOUBLE, op, MPI_COMM_WORLD);
  COUNT(MPI_Op_free)(&op);
}

static void one_sided(void) {
  static double memory[kMax];
  double result[4];
  MPI_Win win;
  void* base;
  MPI_Group world, one;
  COUNT(MPI_Win_create)(memory, sizeof memory, sizeof(double), MPI_INFO_NULL, MPI_COMM_WORLD, &win);
  COUNT(MPI_Win_fence)(0, win);
  COUNT(MPI_Put)(out, 2, MPI_DOUBLE, right, 0, 2, MPI_DOUBLE, win);
  COUNT(MPI_Win_fence)(0, win);
  COUNT(MPI_Get)(in, 2, MPI_DOUBLE, right, 0, 2, MPI_DOUBLE, win);
  COUNT(MPI_Win_fence)(0, win);
  COUNT(MPI_Accumulate)(out, 2, MPI_DOUBLE, right, 0, 2, MPI_DOUBLE, MPI_SUM, win);
  COUNT(MPI_Win_fence)(0, win);

  COUNT(MPI_Win_lock)(MPI_LOCK_SHARED, right, 0, win);
  COUNT(MPI_Get_accumulate)(out, 1, MPI_DOUBLE, result, 1, MPI_DOUBLE, right, 0, 1, MPI_DOUBLE, MPI_SUM, win);
  COUNT(MPI_Fetch_and_op)(out, result, MPI_DOUBLE, right, 0, MPI_SUM, win);
  static long values[3];
  COUNT(MPI_Compare_and_swap)(&values[0], &values[1], &values[2], MPI_LONG, right, 1, win);
  COUNT(MPI_Win_flush)(right, win);
  COUNT(MPI_Win_flush_local)(right, win);
  COUNT(MPI_Win_unlock)(right, win);

  COUNT(MPI_Win_lock_all)(0, win);
  POSTED(COUNT(MPI_Rput)(out, 1, MPI_DOUBLE, right, 0, 1, MPI_DOUBLE, win, &request));
  POSTED(COUNT(MPI_Rget)(in, 1, MPI_DOUBLE, right, 0, 1, MPI_DOUBLE, win, &request));
  POSTED(COUNT(MPI_Raccumulate)(out, 1, MPI_DOUBLE, right, 0, 1, MPI_DOUBLE, MPI_SUM, win, &request));
  POSTED(COUNT(MPI_Rget_accumulate)(out, 1, MPI_DOUBLE, result, 1, MPI_DOUBLE, right, 0, 1, MPI_DOUBLE, MPI_SUM, win,
                                    &request));
#if MPI_VERSION >= 4
  COUNT(MPI_Put_c)(out, 1, MPI_DOUBLE, right, 0, 1, MPI_DOUBLE, win);
  COUNT(MPI_Get_c)(in, 1, MPI_DOUBLE, right, 0, 1, MPI_DOUBLE, win);
  COUNT(MPI_Accumulate_c)(out, 1, MPI_DOUBLE, right, 0, 1, MPI_DOUBLE, MPI_SUM, win);
  COUNT(MPI_Get_accumulate_c)(out, 1, MPI_DOUBLE, result, 1, MPI_DOUBLE, right, 0, 1, MPI_DOUBLE, MPI_SUM, win);
  POSTED(COUNT(MPI_Rput_c)(out, 1, MPI_DOUBLE, right, 0, 1, MPI_DOUBLE, win, &request));
  POSTED(COUNT(MPI_Rget_c)(in, 1, MPI_DOUBLE, right, 0, 1, MPI_DOUBLE, win, &request));
  POSTED(COUNT(MPI_Raccumulate_c)(out, 1, MPI_DOUBLE, right, 0, 1, MPI_DOUBLE, MPI_SUM, win, &request));
  POSTED(COUNT(MPI_Rget_accumulate_c)(out, 1, MPI_DOUBLE, result, 1, MPI_DOUBLE, right, 0, 1, MPI_DOUBLE, MPI_SUM, win,
                                      &request));
#endif
  COUNT(MPI_Win_flush_all)(win);
  COUNT(MPI_Win_flush_local_all)(win);
  COUNT(MPI_Win_sync)(win);
  COUNT(MPI_Win_unlock_all)(win);

  MPI_Comm_group(MPI_COMM_WORLD, &world);
  MPI_Group_incl(world, 1, &left, &one);
  COUNT(MPI_Win_post)(one, 0, win);
  MPI_Group_free(&one);
  MPI_Group_incl(world, 1, &right, &one);
  COUNT(MPI_Win_start)(one, 0, win);
  MPI_Group_free(&one);
  COUNT(MPI_Win_complete)(win);
  COUNT(MPI_Win_wait)(win);
  MPI_Group_incl(world, 1, &left, &one);
  COUNT(MPI_Win_post)(one, 0, win);
  MPI_Group_free(&one);
  MPI_Group_incl(world, 1, &right, &one);
  COUNT(MPI_Win_start)(one, 0, win);
  MPI_Group_free(&one);
  COUNT(MPI_Win_complete)(win);
  int flag = 0;
  COUNT(MPI_Win_test)(win, &flag);
  if (!flag) PMPI_Win_wait(win); /* not counted: whether it is needed differs from run to run */
  MPI_Group_free(&world);
  COUNT(MPI_Win_free)(&win);

  COUNT(MPI_Win_allocate)(64, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win);
  COUNT(MPI_Win_free)(&win);
  COUNT(MPI_Win_allocate_shared)(64, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win);
  COUNT(MPI_Win_free)(&win);
  COUNT(MPI_Win_create_dynamic)(MPI_INFO_NULL, MPI_COMM_WORLD, &win);
  COUNT(MPI_Win_attach)(win, memory, sizeof memory);
  COUNT(MPI_Win_detach)(win, memory);
  COUNT(MPI_Win_free)(&win);
#if MPI_VERSION >= 4
  COUNT(MPI_Win_create_c)(memory, sizeof memory, 8, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
  COUNT(MPI_Win_free)(&win);
  COUNT(MPI_Win_allocate_c)(64, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win);
  COUNT(MPI_Win_free)(&win);
  COUNT(MPI_Win_allocate_shared_c)(64, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win);
  COUNT(MPI_Win_free)(&win);
#endif
}

#define FILE_CALLS(way, X)                                                                   \
  COUNT(MPI_File_##way##X)(file, out, 2, MPI_DOUBLE, &status);                               \
  COUNT(MPI_File_##way##_all##X)(file, out, 2, MPI_DOUBLE, &status);                         \
  COUNT(MPI_File_##way##_at##X)(file, 16 * rank, out, 2, MPI_DOUBLE, &status);               \
  COUNT(MPI_File_##way##_at_all##X)(file, 16 * rank, out, 2, MPI_DOUBLE, &status);           \
  COUNT(MPI_File_##way##_shared##X)(file, out, 2, MPI_DOUBLE, &status);                      \
  COUNT(MPI_File_##way##_ordered##X)(file, out, 2, MPI_DOUBLE, &status);                     \
  POSTED(COUNT(MPI_File_i##way##X)(file, out, 2, MPI_DOUBLE, &request));                     \
  POSTED(COUNT(MPI_File_i##way##_all##X)(file, out, 2, MPI_DOUBLE, &request));               \
  POSTED(COUNT(MPI_File_i##way##_at##X)(file, 16 * rank, out, 2, MPI_DOUBLE, &request));     \
  POSTED(COUNT(MPI_File_i##way##_at_all##X)(file, 16 * rank, out, 2, MPI_DOUBLE, &request)); \
  POSTED(COUNT(MPI_File_i##way##_shared##X)(file, out, 2, MPI_DOUBLE, &request));            \
  COUNT(MPI_File_##way##_all_begin##X)(file, out, 2, MPI_DOUBLE);                            \
  COUNT(MPI_File_##way##_all_end)(file, out, &status);                                       \
  COUNT(MPI_File_##way##_at_all_begin##X)(file, 16 * rank, out, 2, MPI_DOUBLE);              \
  COUNT(MPI_File_##way##_at_all_end)(file, out, &status);                                    \
  COUNT(MPI_File_##way##_ordered_begin##X)(file, out, 2, MPI_DOUBLE);                        \
  COUNT(MPI_File_##way##_ordered_end)(file, out, &status)

static void files(void) {
  char path[64];
  MPI_File file;
  MPI_Status status;
  MPI_Offset file_size;
  int pid = getpid();
  COUNT(MPI_Bcast)(&pid, 1, MPI_INT, 0, MPI_COMM_WORLD);
  /* A file for each rank: shared ones need locks between the processes, on which Open MPI may hang on a busy machine.
   */
  snprintf(path, sizeof path, "/tmp/profshim_every_call.%d.%d", pid, rank);
  COUNT(MPI_File_open)(MPI_COMM_SELF, path, MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &file);
  COUNT(MPI_File_set_view)(file, 0, MPI_BYTE, MPI_BYTE, "native", MPI_INFO_NULL);
  COUNT(MPI_File_preallocate)(file, 4096);
  FILE_CALLS(write, );
  COUNT(MPI_File_sync)(file);
  COUNT(MPI_File_seek)(file, 0, MPI_SEEK_SET);
  COUNT(MPI_File_seek_shared)(file, 0, MPI_SEEK_SET);
  FILE_CALLS(read, );
#if MPI_VERSION >= 4
  FILE_CALLS(write, _c);
  COUNT(MPI_File_seek)(file, 0, MPI_SEEK_SET);
  FILE_CALLS(read, _c);
#endif
  COUNT(MPI_File_get_size)(file, &file_size);
  COUNT(MPI_File_set_size)(file, 0);
  COUNT(MPI_File_close)(&file);
  COUNT(MPI_Barrier)(MPI_COMM_WORLD);
  COUNT(MPI_File_delete)(path, MPI_INFO_NULL);
}

int main(int argc, char** argv) {
  COUNT(MPI_Init)(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  left = (rank + size - 1) % size;
  right = (rank + 1) % size;
  for (int i = 0; i < kMax; ++i) {
    counts_of[i] = 1;
    places[i] = 8 * i; /* elements or bytes: apart either way */
    wide_places[i] = 8 * i;
    types[i] = MPI_DOUBLE;
  }
  COUNT(MPI_Dist_graph_create_adjacent)
  (MPI_COMM_WORLD, 1, &left, MPI_UNWEIGHTED, 1, &right, MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &graph);
  const char* const only = argc > 1 ? argv[1] : "";
  struct {
    const char* name;
    void (*run)(void);
  } parts[] = {{"collectives", collectives},
               {"point_to_point", point_to_point},
               {"partitioned", partitioned},
               {"completions", completions},
               {"communicators", communicators},
               {"sessions", sessions},
               {"ports", ports},
               {"types", own_types},
               {"one_sided", one_sided},
               {"files", files}};
  for (size_t i = 0; i < sizeof parts / sizeof *parts; ++i) {
    if (*only == 0 || strcmp(only, parts[i].name) == 0) parts[i].run();
  }
  COUNT(MPI_Comm_free)(&graph);
  if (*only == 0) count_rows_not_called();
  finalize_and_print_counts();
  return 0;
}
