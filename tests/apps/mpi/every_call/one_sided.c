#include "parts.h"

void one_sided(void) {
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
  if (!flag) PMPI_Win_wait(win); /* not counted: some runs do not make this call */
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
