#include <fcntl.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <functional>
#include <sstream>
#include <string>

#include "e2e/support/built_programs.h"
#include "e2e/support/machine/memory_cgroup.h"
#include "e2e/support/mpi_jobs.h"
#include "e2e/support/run_under_shim.h"
#include "e2e/support/scratch_folder.h"
#include "e2e/support/seen_trace.h"

namespace profshim::e2e {
namespace {

constexpr std::uint64_t kMiB = 1 << 20;
constexpr int kCalls = 100'000;  // 6.4 MB of events
constexpr int kForbidden = 97;   // exit status of a child that could not make its environment

bool own_mounts() {
  return unshare(CLONE_NEWNS) == 0 && mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0;
}
bool cover(const char* folder, const char* options, unsigned long flags = 0) {
  return own_mounts() && mount("tmpfs", folder, "tmpfs", flags, options) == 0;
}
bool limit(int resource, std::uint64_t bytes) {
  const rlimit both{bytes, bytes};
  return setrlimit(static_cast<__rlimit_resource>(resource), &both) == 0;
}
bool bare_devices() {
  constexpr struct {
    const char* path;
    unsigned minor;
  } kDevices[] = {{"/dev/null", 3}, {"/dev/zero", 5}, {"/dev/random", 8}, {"/dev/urandom", 9}};
  if (!cover("/dev", "mode=755")) return false;
  for (const auto& device : kDevices)
    if (mknod(device.path, S_IFCHR | 0666, makedev(1, device.minor)) != 0) return false;
  return true;
}
bool become_nobody() { return setgid(65534) == 0 && setuid(65534) == 0; }

struct Environment {
  const char* name;
  std::vector<std::string> job;                         // arguments of tests/apps_memory/tight
  std::function<bool(const std::string& folder)> make;  // runs in the child before exec; must not allocate
  std::vector<std::string> launcher = {};
  std::function<void(int pid, const std::string& folder)> during = {};
  friend void PrintTo(const Environment& row, std::ostream* out) { *out << row.name; }
};

const std::string kMany = std::to_string(kCalls);

const Environment kEnvironments[] = {
    {"ulimit_v", {"reserve", "3200", kMany}, [](auto&) { return limit(RLIMIT_AS, 4'000'000ull << 10); }},
    {"ulimit_v_small", {"reserve", "300", kMany}, [](auto&) { return limit(RLIMIT_AS, 1'000'000ull << 10); }},
    {"ulimit_d", {"reserve", "800", kMany}, [](auto&) { return limit(RLIMIT_DATA, 1'000'000ull << 10); }},
    {"ulimit_f", {"touch", "1", "1000"}, [](auto&) { return limit(RLIMIT_FSIZE, 64 << 10); }},
    {"shared_memory_absent", {"touch", "1", kMany}, [](auto&) { return bare_devices(); }},
    {"shared_memory_read_only", {"touch", "1", kMany}, [](auto&) { return cover("/dev/shm", "", MS_RDONLY); }},
    {"shared_memory_noexec", {"touch", "1", kMany}, [](auto&) { return cover("/dev/shm", "", MS_NOEXEC); }},
    {"shared_memory_of_1_MB", {"touch", "1", kMany}, [](auto&) { return cover("/dev/shm", "size=1m"); }},
    {"shared_memory_of_64_MB", {"touch", "1", kMany}, [](auto&) { return cover("/dev/shm", "size=64m"); }},
    {"no_proc", {"touch", "1", kMany}, [](auto&) { return cover("/proc", "size=0", MS_RDONLY); }},
    {"hidepid",
     {"touch", "1", kMany},
     [](auto&) { return own_mounts() && mount("proc", "/proc", "proc", 0, "hidepid=2") == 0 && become_nobody(); }},
    {"pid_namespace", {"touch", "1", kMany}, nullptr, {"unshare", "--pid", "--fork", "--mount-proc"}},
    {"user_namespace", {"touch", "1", kMany}, nullptr, {"unshare", "--user", "--map-root-user"}},
    {"output_without_space",
     {"touch", "1", kMany},
     [](const std::string& folder) { return cover(folder.c_str(), "size=64k"); }},
    {"output_without_inodes",
     {"touch", "1", kMany},
     [](const std::string& folder) { return cover(folder.c_str(), "nr_inodes=6"); }},
    {"output_beyond_its_quota",
     {"touch", "1", kMany},
     [](const std::string& folder) {
       return cover(folder.c_str(), "usrquota,usrquota_block_hardlimit=64k,mode=1777") && become_nobody();
     }},
    {"output_read_only",
     {"touch", "1", kMany},
     [](const std::string& folder) { return cover(folder.c_str(), "", MS_RDONLY); }},
    {"output_folder_removed",
     {"touch", "1", kMany},
     nullptr,
     {},
     [](int, const std::string& folder) {
       const auto recording = [&folder] {
         const auto files = files_below(folder);
         return std::any_of(files.begin(), files.end(),
                            [](const std::string& file) { return file.find("manifest-rank0") != std::string::npos; });
       };
       for (int i = 0; i < 200'000 && !recording(); ++i) usleep(100);
       std::error_code ignored;
       std::filesystem::remove_all(folder, ignored);
     }},
};

// Drops UCX's lines, which contain the time of day.
std::string own_lines(const std::string& out) {
  std::stringstream text(out);
  std::string kept;
  for (std::string line; std::getline(text, line);)
    if (line.find(" UCX ") == std::string::npos) kept += line + "\n";
  return kept;
}

void expect_all_or_said(const std::string& folder, const Outcome& outcome, const std::string& calls) {
  const auto traces = read_folder(folder);
  if (traces.empty()) {
    EXPECT_FALSE(outcome.shim_lines().empty()) << "nothing was written, and no line says so";
    return;
  }
  ASSERT_EQ(traces.size(), 1u) << outcome.err;
  EXPECT_TRUE(traces[0].readable) << traces[0].error;
  const auto found = traces[0].calls("MPI_Barrier").size();
  const auto made = std::stoul(calls) / 32 * 32;
  EXPECT_LE(found, made);
  if (found == made) return;
  EXPECT_TRUE(!traces[0].property("limit").empty() || traces[0].property("dropped_events") != "0") << found;
  EXPECT_FALSE(outcome.shim_lines().empty());
}

Job job_in(const Environment& row, Mpi mpi, const ScratchFolder& scratch, const std::string& folder) {
  Job job;
  job.command = row.launcher;
  job.command.push_back(built("tests/apps_memory/" + to_string(mpi) + "/tight"));
  job.command.insert(job.command.end(), row.job.begin(), row.job.end());
  job.environment = mpirun(mpi, 1, {}).environment;
  const std::string spec = record_all_spec(folder) + "[limits]\ndisk_free = 0\n";
  job.environment.emplace_back("PROFSHIM_SPEC", scratch.write("spec.toml", spec));
  if (row.make) {
    job.before_exec = [&row, folder] {
      if (!row.make(folder)) _exit(kForbidden);
    };
  }
  if (row.during) job.while_running = [&row, folder](int pid) { row.during(pid, folder); };
  return job;
}

void expect_unharmed(const Environment& row, Mpi mpi) {
  const ScratchFolder scratch;
  const std::string folder = scratch / "traces";
  std::filesystem::create_directory(folder);
  for (const std::string& path : {scratch.path(), folder}) chmod(path.c_str(), 0777);
  Job job = job_in(row, mpi, scratch, folder);
  Job alone = job;
  alone.preload = false;
  alone.while_running = nullptr;
  const Outcome without = run(alone);
  if (without.exit_status == kForbidden) GTEST_SKIP() << "this environment cannot be made here";
  if (without.ending() != "exit 0")
    GTEST_SKIP() << "the job itself does not run so here: " << without.ending() << ": " << without.err;

  const Outcome with = run(job);

  EXPECT_EQ(with.ending(), without.ending()) << with.err;
  EXPECT_EQ(own_lines(with.out), own_lines(without.out)) << with.err;
  expect_all_or_said(folder, with, row.job.back());
  for (const std::string& line : with.shim_lines()) std::printf("  %s\n", line.c_str());
}

struct Row {
  const Environment* environment;
  Mpi mpi;
};

std::vector<Row> rows() {
  std::vector<Row> all;
  for (const Environment& environment : kEnvironments)
    for (const Mpi mpi : {Mpi::kOpenMpi, Mpi::kMpich})
      if (on_path("mpirun." + to_string(mpi))) all.push_back({&environment, mpi});
  return all;
}

class Environments : public testing::TestWithParam<Row> {};

TEST_P(Environments, LeaveTheJobUnchangedAndLossesAreReported) {
  expect_unharmed(*GetParam().environment, GetParam().mpi);
}

INSTANTIATE_TEST_SUITE_P(Real, Environments, testing::ValuesIn(rows()), [](const auto& row) {
  return std::string(row.param.environment->name) + "_" + to_string(row.param.mpi);
});

class MemoryCgroupOf : public testing::TestWithParam<int> {};

TEST_P(MemoryCgroupOf, ThatManyMiBIsNotFilledByTheRecording) {
  const auto mib = static_cast<std::uint64_t>(GetParam());
  std::ifstream meminfo("/proc/meminfo");
  std::uint64_t available_kib = 0;
  for (std::string line; std::getline(meminfo, line);)
    if (line.starts_with("MemAvailable:")) available_kib = std::stoull(line.substr(13));
  if (available_kib / 1024 < mib + mib / 2) GTEST_SKIP() << "this machine has too little memory";
  for (const Mpi mpi : installed_mpis()) {
    const MemoryCgroup cgroup(mib * kMiB);
    if (!cgroup.why_not().empty()) GTEST_SKIP() << cgroup.why_not();
    // The job fills 84 % of the cgroup, with 40 MiB that Open MPI itself needs.
    const std::uint64_t needed = mib * 84 / 100 - (mpi == Mpi::kOpenMpi ? 40 : 0);
    // Events of 128 MB; in the largest cgroup 64 MB, which have room until the job has taken three quarters of its own.
    const char* const calls = mib < 2048 ? "2000000" : "1000000";
    const Environment row{
        "cgroup", {"touch", std::to_string(needed), calls}, [&cgroup](auto&) { return cgroup.enter(); }};
    SCOPED_TRACE(to_string(mpi));

    expect_unharmed(row, mpi);
  }
}
INSTANTIATE_TEST_SUITE_P(MiB, MemoryCgroupOf, testing::Values(512, 1024, 2048));

TEST(SharedWindow, OfTheJobFitsIntoASmallSharedMemory) {
  for (const Mpi mpi : installed_mpis()) {
    const ScratchFolder scratch;
    Job job = mpirun(mpi, 2, {built("tests/apps_memory/" + to_string(mpi) + "/tight"), "shared", "12", "400000"});
    const std::string spec = record_all_spec(scratch / "traces") + "[limits]\ndisk_free = 0\n";
    job.environment.emplace_back("PROFSHIM_SPEC", scratch.write("spec.toml", spec));
    job.before_exec = [] {
      if (!cover("/dev/shm", "size=64m,mode=1777")) _exit(kForbidden);
    };
    const Both both = run_both(job);
    if (both.without.exit_status == kForbidden) GTEST_SKIP() << "mounting is not allowed here";

    expect_same(both);
    const auto traces = read_folder(scratch / "traces");
    EXPECT_EQ(traces.size(), 2u) << both.with.err;
    for (const SeenTrace& trace : traces)
      EXPECT_NE(trace.property("problems").find("a SIGKILL loses them"), std::string::npos)
          << trace.property("problems");
  }
}

}  // namespace
}  // namespace profshim::e2e
