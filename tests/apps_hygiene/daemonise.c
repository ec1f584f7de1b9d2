#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static void daemon_body(const char* path, int done) {
  setsid();
  if (fork() != 0) _exit(0);
  for (int fd = 0; fd < 65536; ++fd)
    if (fd != done) close(fd);
  const int file = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0644);
  char line[64];
  const int length = snprintf(line, sizeof line, "daemon runs, its file has number %d\n", file);
  if (write(file, line, (size_t)length) != length) _exit(3);
  close(file);
  _exit(0);
}

int main(int argc, char** argv) {
  int ends[2];
  char byte;
  if (argc < 2 || pipe(ends) != 0) return 2;
  const pid_t child = fork();
  if (child == 0) {
    close(ends[0]);
    daemon_body(argv[1], ends[1]);
  }
  close(ends[1]);
  waitpid(child, NULL, 0);
  if (read(ends[0], &byte, 1) != 0) return 3;
  printf("daemonised\n");
  return 0;
}
