#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

static void at_end(void) {
  printf("atexit ran\n");
  fflush(stdout);
}

int main(int argc, char** argv) {
  const char* how = argc > 1 ? argv[1] : "return";
  const struct rlimit no_core = {0, 0};
  setrlimit(RLIMIT_CORE, &no_core);
  atexit(at_end);
  at_quick_exit(at_end);
  printf("ending by %s\n", how);
  fflush(stdout);
  if (strcmp(how, "exit") == 0) exit(3);
  if (strcmp(how, "_exit") == 0) _exit(4);
  if (strcmp(how, "_Exit") == 0) _Exit(5);
  if (strcmp(how, "quick_exit") == 0) quick_exit(6);
  if (strcmp(how, "abort") == 0) abort();
  if (atoi(how) > 0) raise(atoi(how));
  return 7;
}
