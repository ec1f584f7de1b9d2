// Timers and limits of the job (ulimit), which the recording could reach first or change in their effect.
#include <grp.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <string>
#include <vector>

#include "e2e/support/built_programs.h"
#include "e2e/support/mpi_jobs.h"
#include "e2e/support/run_under_shim.h"
#include "e2e/support/scratch_folder.h"
#include "e2e/support/seen_trace.h"
#include "profshim/spool/format.h"

namespace profshim::e2e {
namespace {

constexpr std::size_t kCalls = 2000;

Job limited(const ScratchFolder& scratch, Mpi mpi, const std::vector<std::string>& arguments,
            const std::string& more = "") {
  Job job{.command = {built("tests/apps_ending/" + to_string(mpi) + "/limited")}};
  job.command.insert(job.command.end(), arguments.begin(), arguments.end());
  job.environment.emplace_back("PROFSHIM_SPEC", scratch.write("spec.toml", record_all_spec(scratch / "traces") + more));
  return job;
}

bool set_limit(__rlimit_resource resource, rlim_t most) {
  const rlimit both{most, most};
  return setrlimit(resource, &both) == 0;
}

void expect_same_ending(const Both& both) {
  EXPECT_EQ(both.with.ending(), both.without.ending()) << both.with.err;
  EXPECT_EQ(both.with.out, both.without.out) << both.with.err;
  EXPECT_NE(both.with.ending(), "timed out");
}

void expect_calls(const ScratchFolder& scratch, std::size_t calls, const Outcome& outcome) {
  const auto traces = read_folder(scratch / "traces");
  ASSERT_EQ(traces.size(), 1u) << outcome.err;
  EXPECT_TRUE(traces[0].readable) << traces[0].error;
  EXPECT_GE(traces[0].calls("MPI_Allreduce").size(), calls);
}

struct Row {
  const char *what, *action;
};
void PrintTo(const Row& row, std::ostream* out) { *out << row.what << " " << row.action; }

std::vector<Row> rows() {
  std::vector<Row> all;
  for (const char* what : {"prof", "virtual", "realtime"}) {
    for (const char* action : {"default", "handler", "ignored"}) all.push_back({what, action});
  }
  return all;
}

class ATimer : public testing::TestWithParam<Row> {};

TEST_P(ATimer, EndsTheJobAsWithoutTheLibraryAndATraceIsWritten) {
  for (const Mpi mpi : installed_mpis()) {
    const ScratchFolder scratch;

    Job job = limited(scratch, mpi, {GetParam().what, std::to_string(kCalls), GetParam().action});
    job.environment.push_back(kNoDaemon);

    const Both both = run_both(job);

    if (both.without.ending() == "exit 77") GTEST_SKIP() << "SCHED_FIFO is not permitted here";
    SCOPED_TRACE(to_string(mpi));
    expect_same_ending(both);
    expect_calls(scratch, kCalls, both.with);
  }
}
INSTANTIATE_TEST_SUITE_P(Endings, ATimer, testing::ValuesIn(rows()),
                         [](const auto& row) { return std::string(row.param.what) + "_" + row.param.action; });

// The trace, too, is larger than the limit.
class AFileSize : public testing::TestWithParam<const char*> {};

TEST_P(AFileSize, ThatTheJobExceedsEndsItAsWithoutTheLibraryAndTheLossIsReported) {
  for (const Mpi mpi : installed_mpis()) {
    const ScratchFolder scratch;

    const Both both = run_both(limited(scratch, mpi, {"file", std::to_string(kCalls), GetParam()}));

    SCOPED_TRACE(to_string(mpi));
    expect_same_ending(both);
    EXPECT_NE(both.with.err.find("File too large; its events are kept"), std::string::npos) << both.with.err;
    EXPECT_EQ(profshim({"recover", scratch / "traces"}).ending(), "exit 0");
    expect_calls(scratch, kCalls, both.with);
  }
}
INSTANTIATE_TEST_SUITE_P(Endings, AFileSize, testing::Values("default", "handler", "ignored"));

TEST(FileSize, ThatOnlyTheTraceExceedsLeavesTheJobAlone) {
  for (const Mpi mpi : installed_mpis()) {
    const ScratchFolder scratch;
    Job job{.command = {built("tests/apps_ending/" + to_string(mpi) + "/ending"), "return", "200000"}};
    job.environment.emplace_back("PROFSHIM_SPEC", scratch.write("spec.toml", record_all_spec(scratch / "traces")));
    job.before_exec = [] { set_limit(RLIMIT_FSIZE, 8 << 20); };  // MPI itself writes files of 4 MiB

    const Both both = run_both(job);

    SCOPED_TRACE(to_string(mpi));
    expect_same(both);
    EXPECT_EQ(read_folder(scratch / "traces").size(), 0u);
    EXPECT_NE(both.with.err.find("File too large; its events are lost"), std::string::npos) << both.with.err;
  }
}

TEST(Descriptors, ThatTheJobTakesAllLeaveItAloneAndTheLossIsReported) {
  for (const Mpi mpi : installed_mpis()) {
    const ScratchFolder scratch;
    Job job = limited(scratch, mpi, {"files", std::to_string(kCalls)});
    job.before_exec = [] { set_limit(RLIMIT_NOFILE, 256); };

    const Both both = run_both(job);

    SCOPED_TRACE(to_string(mpi));
    EXPECT_EQ(both.without.ending(), "exit 5");
    expect_same_ending(both);
    EXPECT_NE(both.with.err.find("run  profshim recover"), std::string::npos) << both.with.err;
    EXPECT_EQ(profshim({"recover", scratch / "traces"}).ending(), "exit 0");
    expect_calls(scratch, kCalls, both.with);
  }
}

/// A user without processes: the kernel counts those of a user, and root has no limit.
uid_t somebody() { return static_cast<uid_t>(100'000 + getpid()); }
bool become_somebody() {
  const uid_t id = somebody();
  return setgroups(0, nullptr) == 0 && setgid(id) == 0 && setuid(id) == 0;
}

TEST(Processes, OfWhichTheJobMayHaveFewLeaveItAlone) {
  if (const std::string why_not = why_no_job_of(somebody()); !why_not.empty()) GTEST_SKIP() << why_not;
  constexpr rlim_t kMost = 10;
  for (const Mpi mpi : installed_mpis()) {
    for (rlim_t most = 1; most <= kMost; ++most) {
      const ScratchFolder scratch;
      chmod(scratch.path().c_str(), 0777);
      Job job{.command = {built("tests/apps_ending/" + to_string(mpi) + "/ending"), "return", std::to_string(kCalls)}};
      job.environment.emplace_back("PROFSHIM_SPEC", scratch.write("spec.toml", record_all_spec(scratch / "traces")));
      job.folder = scratch.path();
      job.before_exec = [most] {
        if (!set_limit(RLIMIT_NPROC, most) || !become_somebody()) _exit(2);
      };

      const Both both = run_both(job);

      EXPECT_EQ(both.with.ending(), both.without.ending()) << to_string(mpi) << most << both.with.err;
      if (both.without.ending() != "exit 0") continue;
      EXPECT_EQ(both.with.out, both.without.out);
      const bool is_written = read_folder(scratch / "traces").size() == 1;
      EXPECT_TRUE(is_written || !both.with.shim_lines().empty()) << to_string(mpi) << most << both.with.err;
    }
  }
}

TEST(LockedMemory, ThatTheJobMayNotHaveIsRefusedAsWithoutTheLibrary) {
  if (const std::string why_not = why_no_job_of(somebody()); !why_not.empty()) GTEST_SKIP() << why_not;
  for (const Mpi mpi : installed_mpis()) {
    const ScratchFolder scratch;
    chmod(scratch.path().c_str(), 0777);
    Job job = limited(scratch, mpi, {"lock", std::to_string(kCalls)});
    job.folder = scratch.path();
    job.before_exec = [] {
      if (!set_limit(RLIMIT_MEMLOCK, 0) || !become_somebody()) _exit(2);
    };

    const Both both = run_both(job);

    SCOPED_TRACE(to_string(mpi));
    EXPECT_EQ(both.without.ending(), "exit 4") << both.without.err;
    expect_same_ending(both);
    expect_calls(scratch, kCalls, both.with);
  }
}

/// Returns the core dump in `folder`, or "".
std::string core_dump(const std::string& folder) {
  for (const std::string& name : files_below(folder)) {
    if (name.rfind("core", 0) == 0) return text_of_file(folder + "/" + name);
  }
  return "";
}

TEST(CoreDump, DoesNotHoldTheSpool) {
  const std::string magic(spool::kMagic, sizeof spool::kMagic);
  for (const Mpi mpi : installed_mpis()) {
    const ScratchFolder scratch;
    Job job = limited(scratch, mpi, {"core", std::to_string(kCalls)}, "[limits]\nspool_folder = \"/nonexistent\"\n");
    job.folder = scratch.path();
    job.before_exec = [] { set_limit(RLIMIT_CORE, RLIM_INFINITY); };

    const Outcome outcome = run(job);

    const std::string core = core_dump(scratch.path());
    if (core.empty()) GTEST_SKIP() << "core dumps are not written into the working folder here";
    EXPECT_EQ(outcome.ending(), "signal 6") << outcome.err;
    EXPECT_EQ(core.find(magic), std::string::npos) << to_string(mpi);
    expect_calls(scratch, kCalls, outcome);
  }
}

}  // namespace
}  // namespace profshim::e2e
