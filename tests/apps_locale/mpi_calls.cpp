// An MPI program with a locale, which also prints its own numbers by it. Exit status 3: the library changed the locale.
//   mpi_calls global NAME    setlocale() before MPI_Init
//   mpi_calls stream NAME    std::locale::global(), for the streams of C++ too
//   mpi_calls thread NAME    uselocale() in the main thread; a second thread calls under the locale of the process
//   mpi_calls switch NAME    setlocale() and back between the calls of the window
#include <locale.h>
#include <mpi.h>
#include <unistd.h>

#include <cstdio>
#include <cstring>
#include <locale>
#include <string>
#include <thread>

namespace {

constexpr int kCalls = 40;

void call() {
  int one = 1, sum = 0;
  for (int i = 0; i < kCalls; ++i) MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
}

void print_numbers() {
  std::printf("%s %.1f %'d", setlocale(LC_NUMERIC, nullptr), 2.5, 1234567);
  std::printf(" %g\n", std::strtod("2.5", nullptr) + std::strtod("2,5", nullptr));
}

}  // namespace

int main(int argc, char** argv) {
  const std::string how = argc > 2 ? argv[1] : "";
  const char* const name = argc > 2 ? argv[2] : "C";
  locale_t own = nullptr;
  if (how == "global" && setlocale(LC_ALL, name) == nullptr) return 2;
  if (how == "stream") std::locale::global(std::locale(name));
  if (how == "thread" && (own = newlocale(LC_ALL_MASK, name, nullptr)) == nullptr) return 2;
  if (own != nullptr) uselocale(own);

  int level = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
  call();
  if (how == "thread" && level == MPI_THREAD_MULTIPLE) std::thread(call).join();
  if (how == "switch" && setlocale(LC_ALL, name) == nullptr) return 2;
  print_numbers();
  call();
  if (how == "switch") setlocale(LC_ALL, "C");
  call();
  if (how == "switch") setlocale(LC_ALL, name);
  MPI_Finalize();
  print_numbers();
  return own != nullptr && uselocale(nullptr) != own ? 3 : 0;
}
