#include "parts.h"

/* The barriers let the ready send start after the other rank's receive, as MPI requires. */
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

void point_to_point(void) {
  static char attached[1 << 16];
  MPI_Status status;
  MPI_Message message;
  int flag = 0;
  MPI_Buffer_attach(attached, sizeof attached);

  /* The receive is posted first, because a ring must not rely on buffered sends. */
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

void partitioned(void) {
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
