// A library whose destructor calls sigaction(), as MPICH's does.
#include <signal.h>
#include <stddef.h>

__attribute__((destructor)) static void end(void) {
  struct sigaction now;
  sigaction(SIGTERM, NULL, &now);
}
