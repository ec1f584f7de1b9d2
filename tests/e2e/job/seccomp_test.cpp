#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/syscall.h>

#include <cerrno>
#include <cstring>
#include <string>

#include "e2e/support/built_programs.h"
#include "e2e/support/mpi_jobs.h"
#include "e2e/support/run_under_shim.h"
#include "e2e/support/scratch_folder.h"
#include "e2e/support/seen_trace.h"

namespace profshim::e2e {
namespace {

constexpr int kCalls = 1000;

struct Call {
  const char* name;
  std::string numbers;
};

std::string all_of(std::initializer_list<long> numbers) {
  std::string text;
  for (const long number : numbers) text += (text.empty() ? "" : ",") + std::to_string(number);
  return text;
}

// Each row refuses all system calls that the C library may use for one purpose. aarch64 lacks the calls inside #ifdef.
const Call kCallsRefused[] = {
#ifdef SYS_symlink
    {"symlink", all_of({SYS_symlink, SYS_symlinkat})},
    {"rename", all_of({SYS_rename, SYS_renameat, SYS_renameat2})},
    {"link", all_of({SYS_link, SYS_linkat})},
    {"unlink", all_of({SYS_unlink, SYS_unlinkat})},
    {"mkdir", all_of({SYS_mkdir, SYS_mkdirat})},
    {"readlink", all_of({SYS_readlink, SYS_readlinkat})},
    {"access", all_of({SYS_access, SYS_faccessat, SYS_faccessat2})},
    {"getdents", all_of({SYS_getdents, SYS_getdents64})},
#endif
    {"madvise", all_of({SYS_madvise})},
    {"ftruncate", all_of({SYS_ftruncate})},
    {"statfs", all_of({SYS_statfs, SYS_fstatfs})},
    {"statfs_and_madvise", all_of({SYS_statfs, SYS_fstatfs, SYS_madvise})},
    {"fsync", all_of({SYS_fsync, SYS_fdatasync})},
    {"fallocate", all_of({SYS_fallocate})},
    {"fallocate_and_madvise", all_of({SYS_fallocate, SYS_madvise})},
    {"flock", all_of({SYS_flock})},
    {"prctl", all_of({SYS_prctl})},
    {"setpriority", all_of({SYS_setpriority, SYS_getpriority})},
    {"sched_getaffinity", all_of({SYS_sched_getaffinity})},
    {"prlimit64", all_of({SYS_prlimit64, SYS_getrlimit})},
    {"clone3", all_of({SYS_clone3})},
    {"clone", all_of({SYS_clone, SYS_clone3})},
    {"rt_sigprocmask", all_of({SYS_rt_sigprocmask})},
    {"memfd_create", all_of({SYS_memfd_create})},
    {"mmap_shared", std::to_string(SYS_mmap) + "s"},
    {"mremap", all_of({SYS_mremap})},
    {"munmap", all_of({SYS_munmap})},
    {"getcwd", all_of({SYS_getcwd})},
    {"fcntl", all_of({SYS_fcntl})},
    {"sysinfo", all_of({SYS_sysinfo})},
    {"uname", all_of({SYS_uname})},
    {"gettid", all_of({SYS_gettid})},
    {"getrandom", all_of({SYS_getrandom})},
    {"pread64", all_of({SYS_pread64})},
    {"mincore", all_of({SYS_mincore})},
    {"process_vm_readv", all_of({SYS_process_vm_readv})},
    {"membarrier", all_of({SYS_membarrier})},
    {"getuid", all_of({SYS_getuid, SYS_geteuid})},
    {"socket", all_of({SYS_socket, SYS_connect})},
};

struct Row {
  const Call* call;
  int error;
  Mpi mpi;
};

std::vector<Row> rows() {
  std::vector<Row> all;
  for (const Call& call : kCallsRefused)
    for (const int error : {EPERM, ENOSYS})
      for (const Mpi mpi : {Mpi::kOpenMpi, Mpi::kMpich})
        if (on_path("mpirun." + to_string(mpi))) all.push_back({&call, error, mpi});
  return all;
}

// hwloc repeats a refused sched_getaffinity() forever. Otherwise the job needs some hundredths of a second.
void limit_cpu_time() {
  const rlimit limit = {1, 1};
  setrlimit(RLIMIT_CPU, &limit);
}

Job job_of(const Row& row, const ScratchFolder& scratch) {
  Job job = mpirun(row.mpi, 1, {});
  job.command = {built("tests/apps_ending/" + to_string(row.mpi) + "/refused"), std::to_string(row.error),
                 row.call->numbers, std::to_string(kCalls)};
  const std::string spec = record_all_spec(scratch / "traces") + "[limits]\ndisk_free = 0\n";
  job.environment.emplace_back("PROFSHIM_SPEC", scratch.write("spec.toml", spec));
  // Without this variable, Open MPI starts a daemon, which may hang under the filter and outlive the job.
  job.environment.push_back(kNoDaemon);
  // With these variables, Open MPI needs no mkdir().
  job.environment.emplace_back("TMPDIR", scratch.path());
  job.environment.emplace_back("OMPI_MCA_orte_create_session_dirs", "0");
  return job;
}

class Seccomp : public testing::TestWithParam<Row> {};

TEST_P(Seccomp, RefusedCallsLeaveTheJobUnchangedAndLossesAreReported) {
  const Row& row = GetParam();
  const ScratchFolder scratch;
  Job job = job_of(row, scratch);
  Job alone = job;
  alone.preload = false;
  alone.before_exec = limit_cpu_time;
  const Outcome without = run(alone);
  if (without.ending() != "exit 0") GTEST_SKIP() << "the job itself does not run so here: " << without.ending();

  const Outcome with = run(job);

  EXPECT_EQ(with.ending(), without.ending()) << with.err;
  EXPECT_EQ(printed_counts(with.out), printed_counts(without.out)) << with.out << with.err;
  const auto traces = read_folder(scratch / "traces");
  const bool whole = traces.size() == 1 && traces[0].calls("MPI_Allreduce").size() == std::size_t{kCalls};
  if (!whole) {
    EXPECT_FALSE(with.shim_lines().empty()) << "nothing was written, and no line says so";
  }
  if (with.err.find("no thread could be started") != std::string::npos) {
    EXPECT_NE(with.err.find(std::string("(") + strerror(row.error) + ")"), std::string::npos) << with.err;
  }
}

INSTANTIATE_TEST_SUITE_P(Real, Seccomp, testing::ValuesIn(rows()), [](const auto& row) {
  return std::string(row.param.call->name) + "_" + strerrorname_np(row.param.error) + "_" + to_string(row.param.mpi);
});

}  // namespace
}  // namespace profshim::e2e
