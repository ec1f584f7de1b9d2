#include <cstdio>
#include <cstdlib>

int main() {
  std::puts("a stack that has been seen before, in ns (goals: 100 for 10 frames of Python, 1000 for 30 native ones):");
  std::fflush(stdout);
  return std::system("spool=$(mktemp -u); /usr/bin/python3 " PROFSHIM_SOURCE_DIR
                     "/tests/bench/stack_cost.py " PROFSHIM_BUILD_DIR
                     "/tests/apps_stack/libstack_probe.so \"$spool\"; status=$?; rm -f \"$spool\"; exit $status");
}
