// Ends by an exec function or daemon().
//   usage: replaced execve|execv|...|daemon|refused [CALLS]
#include <fcntl.h>
#include <mpi.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <string>

extern char** environ;

namespace {

void call(int times) {
  int one = 1, sum = 0;
  for (int i = 0; i < times; ++i) MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
}

constexpr const char* kText = "echo \"the next program: $0 $MARK\"; exit 8";

void become_another(const std::string& how) {
  char* const arguments[] = {const_cast<char*>("sh"), const_cast<char*>("-c"), const_cast<char*>(kText),
                             const_cast<char*>("zero"), nullptr};
  char* const variables[] = {const_cast<char*>("MARK=own"), const_cast<char*>("PATH=/bin:/usr/bin"), nullptr};
  const int shell = open("/bin/sh", O_RDONLY | O_CLOEXEC), folder = open("/bin", O_RDONLY | O_CLOEXEC | O_DIRECTORY);
  if (how == "execve") execve("/bin/sh", arguments, variables);
  if (how == "execv") execv("/bin/sh", arguments);
  if (how == "execvp") execvp("sh", arguments);
  if (how == "execvpe") execvpe("sh", arguments, variables);
  if (how == "execl") execl("/bin/sh", "sh", "-c", kText, "zero", nullptr);
  if (how == "execlp") execlp("sh", "sh", "-c", kText, "zero", nullptr);
  if (how == "execle") execle("/bin/sh", "sh", "-c", kText, "zero", nullptr, variables);
  if (how == "fexecve") fexecve(shell, arguments, variables);
  if (how == "execveat") execveat(folder, "sh", arguments, variables, 0);
}

}  // namespace

int main(int argc, char** argv) {
  const std::string how = argc > 1 ? argv[1] : "execv";
  const int calls = argc > 2 ? std::atoi(argv[2]) : 100;
  MPI_Init(&argc, &argv);
  call(calls);
  char* const nothing[] = {const_cast<char*>("nothing"), nullptr};
  errno = 0;
  std::printf("%d %d\n", execvp("no-such-program", nothing), errno);
  std::printf("%d %d\n", execv("/does/not/exist", nothing), errno);
  std::printf("%d %d\n", execl("/etc", "etc", nullptr), errno);
  call(calls);
  std::fflush(stdout);
  if (how == "daemon") {
    if (daemon(1, 1) != 0) return 1;
    std::puts("the daemon goes on");
    std::fflush(stdout);
    _exit(0);
  }
  if (how == "refused") {
    // The file is executable but has no valid format, so exec fails.
    char name[] = "/tmp/profshim-refused-XXXXXX";
    const int file = mkstemp(name);
    if (file < 0 || write(file, "\1\2\3\4", 4) != 4 || fchmod(file, 0700) != 0) return 1;
    close(file);
    const int result = execv(name, nothing);
    std::printf("%d %d\n", result, errno);
    unlink(name);
    call(calls);
    MPI_Finalize();
    return 9;
  }
  become_another(how);
  return 1;
}
