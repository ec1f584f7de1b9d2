#include <errno.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

extern char** environ;

static void report(const char* how, int status) {
  if (WIFEXITED(status)) printf("%s: exit %d\n", how, WEXITSTATUS(status));
  if (WIFSIGNALED(status)) printf("%s: signal %d\n", how, WTERMSIG(status));
  fflush(stdout);
}

int main(void) {
  char* echo[] = {"sh", "-c", "echo from a child; exit 5", NULL};
  char* killed[] = {"sh", "-c", "kill -9 $$", NULL};
  int status = 0;
  fflush(stdout);

  pid_t pid = vfork();
  if (pid == 0) {
    execv("/bin/sh", echo);
    _exit(127);
  }
  waitpid(pid, &status, 0);
  report("vfork + exec", status);

  pid = vfork();
  if (pid == 0) {
    execv("/does/not/exist", echo);
    _exit(42);
  }
  waitpid(pid, &status, 0);
  report("vfork + failed exec", status);

  const int error = posix_spawn(&pid, "/bin/sh", NULL, NULL, killed, environ);
  if (error == 0) waitpid(pid, &status, 0);
  report("posix_spawn", status);

  pid = fork();
  if (pid == 0) {
    errno = 0;
    execve("/bin/sh", echo, environ);
    _exit(127);
  }
  waitpid(pid, &status, 0);
  report("fork + exec", status);

  pid = fork();
  if (pid == 0) exit(9);
  waitpid(pid, &status, 0);
  report("fork + exit", status);

  report("system", system("echo from system; exit 6"));

  char line[128] = "";
  FILE* stream = popen("echo from popen", "r");
  if (stream == NULL || fgets(line, sizeof line, stream) == NULL) return 2;
  printf("popen: %s", line);
  report("popen", pclose(stream));
  return 0;
}
