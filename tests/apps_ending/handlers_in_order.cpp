#include <mpi.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <string>

namespace {

void say(const char* text) { (void)!write(1, text, std::char_traits<char>::length(text)); }

struct Static {
  ~Static() { say("static destructor\n"); }
} static_object;

}  // namespace

int main(int argc, char** argv) {
  const std::string how = argc > 1 ? argv[1] : "exit";
  std::atexit([] { say("registered before MPI_Init\n"); });
  std::at_quick_exit([] { say("registered before MPI_Init\n"); });
  MPI_Init(&argc, &argv);
  std::atexit([] { say("registered after MPI_Init\n"); });
  std::at_quick_exit([] { say("registered after MPI_Init\n"); });
  int one = 1, sum = 0;
  for (int i = 0; i < 100; ++i) MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  MPI_Finalize();
  if (how == "exit") std::exit(3);
  if (how == "quick_exit") std::quick_exit(4);
  return 5;
}
