// A seccomp filter makes the system calls NUMBER fail with ERRNO.
//   usage: refused ERRNO NUMBER[,NUMBER...] [CALLS]
//   NUMBER with "s": the call fails only if its fourth argument (flags of mmap) contains MAP_SHARED.
#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <mpi.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <vector>

namespace {

sock_filter statement(unsigned code, std::size_t value) {
  return {static_cast<std::uint16_t>(code), 0, 0, static_cast<std::uint32_t>(value)};
}
sock_filter jump(unsigned code, std::size_t value, std::uint8_t yes, std::uint8_t no) {
  return {static_cast<std::uint16_t>(code), yes, no, static_cast<std::uint32_t>(value)};
}

bool refuse(int error, const char* numbers) {
  const sock_filter deny = statement(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | static_cast<unsigned>(error));
  std::vector<sock_filter> filter;
  for (const char* at = numbers; *at != 0; at += *at == ',' ? 1 : 0) {
    char* end = nullptr;
    const auto number = static_cast<std::size_t>(std::strtol(at, &end, 10));
    const bool shared_alone = *end == 's';
    at = end + (shared_alone ? 1 : 0);
    filter.push_back(statement(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)));
    filter.push_back(jump(BPF_JMP | BPF_JEQ | BPF_K, number, 0, shared_alone ? 3 : 1));
    if (shared_alone) {
      filter.push_back(statement(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, args[3])));
      filter.push_back(jump(BPF_JMP | BPF_JSET | BPF_K, MAP_SHARED, 0, 1));
    }
    filter.push_back(deny);
  }
  filter.push_back(statement(BPF_RET | BPF_K, SECCOMP_RET_ALLOW));
  const sock_fprog program{static_cast<unsigned short>(filter.size()), filter.data()};
  return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 && prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

}  // namespace

int main(int argc, char** argv) {
  const rlimit no_core{0, 0};
  setrlimit(RLIMIT_CORE, &no_core);
  const int calls = argc > 3 ? atoi(argv[3]) : 1000;
  if (argc < 3 || !refuse(atoi(argv[1]), argv[2])) return 99;
  MPI_Init(&argc, &argv);
  int one = 1, sum = 0;
  for (int i = 0; i < calls; ++i) MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  std::printf("{\"rank\":0,\"function\":\"MPI_Allreduce\",\"count\":%d}\n", calls);
  MPI_Finalize();
  return 0;
}
