// Children of system calls and of _Fork() run no atfork handlers.
#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

#include "e2e/support/built_programs.h"
#include "e2e/support/mpi_jobs.h"
#include "e2e/support/run_under_shim.h"
#include "e2e/support/scratch_folder.h"
#include "e2e/support/seen_trace.h"

namespace profshim::e2e {
namespace {

constexpr int kForks = 50, kCalls = 20;  // as in raw_fork.cpp

struct Way {
  Mpi mpi;
  const char* fork;
  const char* end;
};
void PrintTo(const Way& way, std::ostream* out) { *out << to_string(way.mpi) << " " << way.fork << " " << way.end; }

std::vector<Way> ways_here() {
  std::vector<Way> ways;
  for (const Mpi mpi : installed_mpis()) {
    for (const char* fork : {"fork", "_Fork", "syscall", "clone", "clone3", "glibc_clone"}) {
      for (const char* end : {"exit", "_exit", "SIGTERM", "inside"}) {
        const bool has_own_end = std::string_view(fork) == "glibc_clone";
        if (!has_own_end || std::string_view(end) == "_exit") ways.push_back({mpi, fork, end});
      }
    }
  }
  return ways;
}

class RawFork : public testing::TestWithParam<Way> {};

TEST_P(RawFork, ChildRecordsNothingAndTheParentKeepsAllItsCalls) {
  const Way& way = GetParam();
  const ScratchFolder scratch;
  Job job{.command = {built("tests/apps_ending/" + to_string(way.mpi) + "/raw_fork"), way.fork, way.end}};
  job.environment.emplace_back("PROFSHIM_SPEC", scratch.write("spec.toml", record_all_spec(scratch / "traces")));
  job.environment.push_back(kNoDaemon);

  const Outcome outcome = run(job);

  EXPECT_EQ(outcome.ending(), "exit 0") << outcome.err;
  EXPECT_EQ(outcome.out, std::to_string(kForks) + " children\n");
  EXPECT_EQ(outcome.shim_lines().size(), 1u) << outcome.err;
  const auto traces = read_folder(scratch / "traces");
  ASSERT_EQ(traces.size(), 1u) << outcome.err;
  std::map<std::string, int> calls;  // by count
  for (const SeenEvent* send : traces[0].calls("MPI_Send")) ++calls[send->args.at("count")];
  const int each = kCalls + (std::string_view(way.end) == "inside" ? 1 : 0);
  std::map<std::string, int> expected;
  for (int i = 1; i <= kForks; ++i) expected[std::to_string(i)] = each;
  EXPECT_EQ(calls, expected);
  EXPECT_EQ(traces[0].property("dropped_events"), "0");
  EXPECT_EQ(traces[0].property("problems"), "[]");
  EXPECT_EQ(traces[0].property("complete"), "true");
}

INSTANTIATE_TEST_SUITE_P(All, RawFork, testing::ValuesIn(ways_here()), [](const auto& row) {
  return (row.param.mpi == Mpi::kOpenMpi ? "OpenMpi_" : "Mpich_") + std::string(row.param.fork) + "_" + row.param.end;
});

}  // namespace
}  // namespace profshim::e2e
