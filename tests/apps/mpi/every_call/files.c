#include <unistd.h>

#include "parts.h"

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

void files(void) {
  char path[64];
  MPI_File file;
  MPI_Status status;
  MPI_Offset file_size;
  int pid = getpid();
  COUNT(MPI_Bcast)(&pid, 1, MPI_INT, 0, MPI_COMM_WORLD);
  /* A file per rank: locks on a shared file may hang Open MPI on a busy machine. */
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
