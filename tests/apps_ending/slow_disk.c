// Preloaded behind the library: a file system on which each fsync() takes 100 ms.
#include <sys/syscall.h>
#include <unistd.h>

int fsync(int fd) {
  usleep(100000);
  return (int)syscall(SYS_fsync, fd);
}
