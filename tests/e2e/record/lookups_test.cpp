// Calls that a job finds by dlsym(handle, name), and other tools that stand in the way.
#include <gtest/gtest.h>

#include <regex>

#include "e2e/support/built_programs.h"
#include "e2e/support/mpi_jobs.h"
#include "e2e/support/scratch_folder.h"
#include "e2e/support/seen_trace.h"

namespace profshim::e2e {
namespace {

constexpr int kBarriers = 50, kPluginBarriers = 7;  // of tests/apps_lookup/by_handle.c and deepbind_plugin.c

std::string lookup(const std::string& file) { return built("tests/apps_lookup/" + file); }

/// The path of the library that programs of this MPI need.
std::string library_of(Mpi mpi) {
  const Outcome outcome =
      run(Job{.command = {"ldd", built("tests/apps/" + to_string(mpi) + "/steps_loop")}, .preload = false});
  std::smatch match;
  const std::regex line("libmpi(ch)?\\.so\\S* => (\\S+)");
  EXPECT_TRUE(std::regex_search(outcome.out, match, line)) << outcome.out;
  return match.empty() ? "" : match[2].str();
}

struct LookupRun {
  Outcome without, with;
  std::vector<SeenTrace> traces;
  int barriers() const { return traces.size() == 1 ? traces[0].counts()["MPI_Barrier"] : -1; }
  std::string problems() const { return traces.size() == 1 ? traces[0].property("problems") : ""; }
};

/// `preload`: "" = the library alone; "SHIM" stands for it.
LookupRun run_lookups(Mpi mpi, const std::vector<std::string>& words, const std::string& preload = "",
                      const std::vector<std::pair<std::string, std::string>>& environment = {}) {
  const ScratchFolder scratch;
  std::vector<std::string> command = {lookup("by_handle"), library_of(mpi)};
  command.insert(command.end(), words.begin(), words.end());
  Job job = mpirun(mpi, 1, command);
  job.environment.insert(job.environment.end(), environment.begin(), environment.end());
  LookupRun result;
  job.preload = false;
  const auto add_preload = [&](const std::string& shim) {
    std::string list = std::regex_replace(preload.empty() ? "SHIM" : preload, std::regex("SHIM"), shim);
    if (list.starts_with(':')) list.erase(0, 1);
    if (!list.empty()) job.environment.emplace_back("LD_PRELOAD", list);
  };
  const auto plain = job.environment;
  add_preload("");
  result.without = run(job);
  job.environment = plain;
  add_preload(shim_path());
  job.environment.emplace_back("PROFSHIM_SPEC", scratch.write("s.toml", record_all_spec(scratch / "traces")));
  result.with = run(job);
  result.traces = read_folder(scratch / "traces");
  return result;
}

void expect_same_and_recorded(const LookupRun& run, int barriers) {
  EXPECT_EQ(run.with.ending(), "exit 0") << run.with.err;
  EXPECT_EQ(run.with.out, run.without.out);
  EXPECT_NE(run.with.out.find("barriers 50"), std::string::npos) << run.with.out << run.with.err;
  EXPECT_EQ(run.barriers(), barriers) << run.with.err;
}

class Lookups : public testing::TestWithParam<Mpi> {};
INSTANTIATE_TEST_SUITE_P(Mpis, Lookups, testing::ValuesIn(installed_mpis()),
                         [](const auto& mpi) { return to_string(mpi.param); });

TEST_P(Lookups, CallsByHandleAreRecorded) {
  const LookupRun local = run_lookups(GetParam(), {"local", "version"});

  expect_same_and_recorded(local, kBarriers);
  EXPECT_EQ(local.traces.at(0).counts()["MPI_Init"], 1);
  EXPECT_EQ(local.problems(), "[]");
}

TEST_P(Lookups, CallsByHandleOfAGlobalLibraryAreRecorded) {
  const LookupRun global = run_lookups(GetParam(), {"global"});

  EXPECT_EQ(global.with.ending(), "exit 0") << global.with.err;
  EXPECT_NE(global.with.out.find("as by name: 1"), std::string::npos) << global.with.out;
  EXPECT_EQ(global.barriers(), kBarriers);
}

TEST_P(Lookups, ALibraryThatWasClosedAndOpenedAgainIsRecorded) {
  expect_same_and_recorded(run_lookups(GetParam(), {"again"}), kBarriers);
}

TEST_P(Lookups, ThreadsLookUpTheSameFunctions) {
  const LookupRun threads = run_lookups(GetParam(), {"threads"});

  expect_same_and_recorded(threads, kBarriers);
  EXPECT_NE(threads.with.out.find("threads that differ: 0"), std::string::npos) << threads.with.out;
}

TEST_P(Lookups, CanBeSwitchedOff) {
  const LookupRun off = run_lookups(GetParam(), {"local"}, "", {{"PROFSHIM_DLSYM", "0"}});

  EXPECT_EQ(off.with.ending(), "exit 0") << off.with.err;
  EXPECT_EQ(off.with.out, off.without.out);
  EXPECT_EQ(off.barriers(), -1) << "MPI_Init was not seen";
}

TEST_P(Lookups, AToolInFrontStillFindsTheNextDefinition) {
  const LookupRun tool = run_lookups(GetParam(), {"global"}, lookup("libtool_next.so") + ":SHIM");

  EXPECT_EQ(tool.with.ending(), "exit 0") << tool.with.err;
  EXPECT_EQ(tool.barriers(), kBarriers) << tool.with.err;
}

TEST_P(Lookups, AToolBehindIsNotCalledByHandle) {
  const LookupRun tool = run_lookups(GetParam(), {"local"}, "SHIM:" + lookup("libtool_next.so"));

  EXPECT_EQ(tool.with.ending(), "exit 0") << tool.with.err;
  EXPECT_NE(tool.with.err.find("tool_next saw 0"), std::string::npos) << tool.with.err;
  EXPECT_EQ(tool.barriers(), -1) << "the hook of MPI_Barrier forwards to the tool, which the job went past";
  EXPECT_NE(
      tool.with.err.find("calls of MPI_Barrier in " + library_of(GetParam()) + " are not recorded: the hook calls "),
      std::string::npos)
      << tool.with.err;
}

TEST_P(Lookups, AToolThatFindsItsFunctionByHandleDoesNotCallItself) {
  for (const std::string& preload : {lookup("libtool_handle.so") + ":SHIM", "SHIM:" + lookup("libtool_handle.so")}) {
    const LookupRun tool = run_lookups(GetParam(), {"global"}, preload, {{"TOOL_MPI", library_of(GetParam())}});

    EXPECT_EQ(tool.with.ending(), "exit 0") << preload << tool.with.err;
    EXPECT_NE(tool.with.out.find("barriers 50"), std::string::npos) << tool.with.out;
  }
}

TEST_P(Lookups, AnotherExportOfDlsymStaysInTheChain) {
  for (const std::string& preload : {lookup("libtool_dlsym.so") + ":SHIM", "SHIM:" + lookup("libtool_dlsym.so")}) {
    const LookupRun tool = run_lookups(GetParam(), {"local"}, preload);

    EXPECT_EQ(tool.with.ending(), "exit 0") << preload << tool.with.err;
    EXPECT_EQ(tool.with.out, tool.without.out);
    EXPECT_NE(tool.with.err.find("tool_dlsym saw some"), std::string::npos) << preload << tool.with.err;
  }
  EXPECT_EQ(run_lookups(GetParam(), {"local"}, "SHIM:" + lookup("libtool_dlsym.so")).barriers(), kBarriers);
}

TEST_P(Lookups, AConstructorMayLookUpFirst) {
  const LookupRun early = run_lookups(GetParam(), {"local"}, "SHIM:" + lookup("libconstructor.so"),
                                      {{"CONSTRUCTOR_MPI", library_of(GetParam())}});

  expect_same_and_recorded(early, kBarriers);
  EXPECT_NE(early.with.err.find("constructor found 1 0"), std::string::npos) << early.with.err;
}

TEST_P(Lookups, CallsOfAPluginThatBindsPastPreloadedLibrariesAreRecorded) {
  const std::string plugin = built("tests/apps/" + to_string(GetParam()) + "/libdeepbind_plugin.so");

  expect_same_and_recorded(run_lookups(GetParam(), {"local", "plugin", plugin}), kBarriers + kPluginBarriers);
  expect_same_and_recorded(run_lookups(GetParam(), {"local", "plugin", plugin, "lazy"}), kBarriers + kPluginBarriers);
}

TEST_P(Lookups, AnotherNamespaceIsNotTouched) {
  const LookupRun other = run_lookups(GetParam(), {"namespace"});

  EXPECT_EQ(other.with.ending(), other.without.ending()) << other.with.err;
  EXPECT_EQ(other.with.out, other.without.out);
  EXPECT_EQ(other.barriers(), -1);
  if (other.without.exit_status != 0) GTEST_SKIP() << "this MPI cannot live in another namespace";
  EXPECT_NE(other.with.err.find("are not recorded: dlmopen() loaded it"), std::string::npos) << other.with.err;
}

TEST(LookupsOfLoader, AResolverOfAnIfuncMayLookUp) {
  const Both both = run_both(Job{.command = {lookup("ifunc_user")}});

  expect_same(both);
  EXPECT_EQ(both.with.out, "1\n");
}

}  // namespace
}  // namespace profshim::e2e
