#include "parts.h"

void communicators(void) {
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

void sessions(void) {
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
  if (rank < 2) {
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

/* MPICH's UCX device has no ports. */
void ports(void) {
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

void own_types(void) {
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
