#include <gtest/gtest.h>

#include <filesystem>
#include <sstream>

#include "e2e/support/built_programs.h"
#include "e2e/support/gpu_run.h"
#include "e2e/support/mpi_jobs.h"
#include "e2e/support/run_under_shim.h"
#include "e2e/support/scratch_folder.h"
#include "e2e/support/seen_trace.h"

namespace profshim::e2e {
namespace {

constexpr char kOn[] = "[capture]\nnccl_profiler = true\n";
const std::string kUserV4 = PROFSHIM_SOURCE_DIR "/build/tests/fakes/user_profiler/v4/libnccl-profiler.so";
const std::string kUserV5 = PROFSHIM_SOURCE_DIR "/build/tests/fakes/user_profiler/v5/libnccl-profiler.so";

using Environment = std::vector<std::pair<std::string, std::string>>;

class NcclProfiler : public ::testing::Test {
 protected:
  /// `preload` follows profshim in LD_PRELOAD. `environment` overrides other variables.
  void record(int interface, const std::string& spec, const Environment& environment = {},
              const std::string& program = "nccl_profiled", const std::string& preload = "") {
    const std::string fakes = built("tests/fakes/cuda13/libnccl.so.2");
    const std::string command =
        (preload.empty() ? "" : "LD_PRELOAD=$LD_PRELOAD:" + preload + " ") + built("tests/apps_gpu/" + program);
    Job job = shell("for rank in 0 1; do RANK=$rank LOCAL_RANK=$rank " + command +
                    " & pids=\"$pids $!\"; done; for pid in $pids; do wait $pid || exit 1; done");
    job.environment = {{"LD_LIBRARY_PATH", fakes.substr(0, fakes.rfind('/'))},
                       {"WORLD_SIZE", "2"},
                       {"NCCL_ID_FILE", scratch_ / "id"},
                       {"HOME", scratch_.path()},
                       {"USER_PROFILER_LOG", scratch_ / "user.log"},
                       {"FAKE_NCCL_PROFILER", std::to_string(interface)},
                       {"PROFSHIM_SPEC", scratch_.write("s.toml", record_all_spec(scratch_ / "traces") + spec)}};
    job.environment.insert(job.environment.end(), environment.begin(), environment.end());
    outcome_ = run(job);
    ASSERT_EQ(outcome_.ending(), "exit 0") << outcome_.err;
    traces_ = read_folder(scratch_ / "traces");
    ASSERT_EQ(traces_.size(), 2U) << outcome_.err;
  }

  std::string fakes_and(const std::string& folder) const {
    const std::string fakes = built("tests/fakes/cuda13/libnccl.so.2");
    return fakes.substr(0, fakes.rfind('/')) + ":" + folder;
  }

  static std::vector<const SeenEvent*> operations(const SeenTrace& trace) {
    std::vector<const SeenEvent*> found;
    for (const SeenEvent& event : trace.events) {
      if (event.name.starts_with("nccl:") && event.args.count("function") != 0) found.push_back(&event);
    }
    return found;
  }

  static std::string arg(const SeenEvent& event, const std::string& key) {
    const auto at = event.args.find(key);
    return at == event.args.end() ? "-" : at->second;
  }

  static std::vector<std::string> all(const SeenTrace& trace, const std::string& key) {
    std::vector<std::string> values;
    for (const SeenEvent* const operation : operations(trace)) values.push_back(arg(*operation, key));
    return values;
  }

  static bool has_args(const SeenTrace& trace) {
    for (const SeenEvent& event : trace.events) {
      for (const auto& [key, value] : event.args) {
        if (key.starts_with("NCCL ")) return true;
      }
    }
    return false;
  }

  void expect_inert() const {
    for (const SeenTrace& trace : traces_) {
      EXPECT_FALSE(has_args(trace));
      EXPECT_EQ(trace.property("nccl_profiler_version"), "");
      EXPECT_EQ(trace.property("nccl_tasks"), "");
    }
  }
  void expect_problem(const std::string& words) const {
    for (const SeenTrace& trace : traces_) {
      const std::string problems = trace.property("problems");
      const auto at = problems.find(words);
      EXPECT_NE(at, std::string::npos) << problems;
      EXPECT_EQ(problems.find(words, at + 1), std::string::npos) << "reported twice: " << problems;
    }
  }
  void expect_users_own() const {
    const std::string log = text_of_file(scratch_ / "user.log");
    std::map<std::string, int> lines;
    std::istringstream text(log);
    for (std::string line; std::getline(text, line);) ++lines[line];
    EXPECT_EQ(lines["init"], 2) << log;
    EXPECT_EQ(lines["AllReduce"], 10) << log;
    EXPECT_EQ(lines["finalize"], 2) << log;
  }

  const ScratchFolder scratch_;
  Outcome outcome_;
  std::vector<SeenTrace> traces_;
};

using Values = std::vector<std::string>;

class NcclProfilerSinceV5 : public NcclProfiler, public ::testing::WithParamInterface<int> {};

TEST_P(NcclProfilerSinceV5, EachCallHasTheDataOfItsTasks) {
  record(GetParam(), kOn);

  for (const SeenTrace& trace : traces_) {
    EXPECT_EQ(trace.property("problems"), "[]");
    EXPECT_EQ(trace.property("nccl_profiler_version"), std::to_string(GetParam()));
    EXPECT_EQ(trace.property("nccl_tasks"), R"({"seen":9,"joined":9})");
    EXPECT_EQ(all(trace, "NCCL algorithm"), (Values{"RING", "RING", "RING", "RING", "RING", "-"}));
    EXPECT_EQ(all(trace, "NCCL protocol"), (Values{"LL", "LL", "LL", "LL", "LL", "-"}));
    EXPECT_EQ(all(trace, "NCCL warps"), (Values{"16", "16", "16", "16", "16", "-"}));
    EXPECT_EQ(all(trace, "NCCL channels"), (Values{"8", "8", "1", "8", "1", "1"}));
    // NCCL numbers operations in launch order, in which the largest of a group is first.
    EXPECT_EQ(all(trace, "NCCL seq"), (Values{"0", "1", "3", "2", "4", "-"}));
    EXPECT_EQ(all(trace, "NCCL function"),
              (Values{"AllReduce", "AllReduce", "AllReduce", "AllReduce", "AllReduce", "-"}));
  }
}

TEST_P(NcclProfilerSinceV5, CallsLaunchedByNcclsThreadAreJoined) {
  record(GetParam(), kOn, {}, "nccl_nonblocking");

  for (const SeenTrace& trace : traces_) {
    EXPECT_EQ(trace.property("nccl_tasks"), R"({"seen":4,"joined":4})");
    EXPECT_EQ(all(trace, "NCCL function"), (Values{"AllReduce", "AllReduce", "AllGather", "AllReduce"}));
    EXPECT_EQ(all(trace, "NCCL seq"), (Values{"0", "1", "0", "2"}));
  }
}

INSTANTIATE_TEST_SUITE_P(Interface, NcclProfilerSinceV5, ::testing::Values(5, 6));

// Interface v4 does not tell which NCCL call a task belongs to.
TEST_F(NcclProfiler, V4IsJoinedIfACallHasOneTask) {
  record(4, kOn);

  for (const SeenTrace& trace : traces_) {
    EXPECT_EQ(trace.property("problems"), "[]");
    EXPECT_EQ(trace.property("nccl_profiler_version"), "4");
    EXPECT_EQ(trace.property("nccl_tasks"), R"({"seen":9,"joined":6})");
    EXPECT_EQ(all(trace, "NCCL algorithm"), (Values{"RING", "RING", "-", "-", "-", "-"}));
    EXPECT_EQ(all(trace, "NCCL channels"), (Values{"8", "8", "-", "-", "-", "1"}));
    EXPECT_EQ(all(trace, "NCCL seq"), (Values{"0", "1", "-", "-", "-", "-"}));
  }
}

TEST_F(NcclProfiler, V4TasksOfNcclsThreadAreCountedAndNotGuessed) {
  record(4, kOn, {}, "nccl_nonblocking");

  for (const SeenTrace& trace : traces_) {
    EXPECT_EQ(trace.property("nccl_tasks"), R"({"seen":4,"joined":0})");
    EXPECT_FALSE(has_args(trace));
  }
}

TEST_F(NcclProfiler, IsNotLoadedWithoutTheKey) {
  record(6, "");

  expect_inert();
  for (const SeenTrace& trace : traces_) EXPECT_EQ(trace.property("problems"), "[]");
  EXPECT_EQ(outcome_.out, "plugin \nplugin \n");
}

TEST_F(NcclProfiler, IsNotLoadedWithoutTheActivity) {
  record(6, "[capture]\nactivities = [\"cuda\"]\nnccl_profiler = true\n");

  expect_inert();
  EXPECT_EQ(outcome_.out, "plugin \nplugin \n");
}

TEST_F(NcclProfiler, AnEnvironmentVariableSetsTheKey) {
  record(5, "", {{"PROFSHIM_SET", "capture.nccl_profiler=true"}});

  for (const SeenTrace& trace : traces_) EXPECT_EQ(trace.property("nccl_tasks"), R"({"seen":9,"joined":9})");
  EXPECT_EQ(outcome_.out, "plugin " + shim_path() + "\nplugin " + shim_path() + "\n");
}

TEST_F(NcclProfiler, OlderNcclIsReported) {
  record(3, kOn);

  expect_inert();
  expect_problem("NCCL 2.26 is too old, use NCCL 2.27 or later");
  EXPECT_EQ(outcome_.out, "plugin \nplugin \n");
}

TEST_F(NcclProfiler, TraceSaysIfNcclDidNotLoadIt) {
  record(3, kOn, {{"NCCL_PROFILER_PLUGIN", shim_path()}});

  expect_inert();
  expect_problem("NCCL did not load profshim as its profiler plugin");
}

TEST_F(NcclProfiler, ThePluginThatTheEnvironmentNamesStays) {
  record(6, kOn, {{"NCCL_PROFILER_PLUGIN", kUserV5}});

  expect_inert();
  expect_users_own();
  expect_problem("NCCL_PROFILER_PLUGIN is set to " + kUserV5);
}

TEST_F(NcclProfiler, NoneInTheEnvironmentIsRespected) {
  record(6, kOn, {{"NCCL_PROFILER_PLUGIN", "none"}});

  expect_inert();
  expect_problem("NCCL_PROFILER_PLUGIN is set to none");
}

TEST_F(NcclProfiler, PluginNamedInNcclsConfigurationFileStays) {
  record(6, kOn, {{"NCCL_CONF_FILE", scratch_.write("nccl.conf", "# ours\nNCCL_PROFILER_PLUGIN=" + kUserV4 + "\n")}});

  expect_inert();
  expect_users_own();
  expect_problem("NCCL_PROFILER_PLUGIN is set to " + kUserV4);
}

TEST_F(NcclProfiler, ThePluginWithTheDefaultNameStays) {
  record(5, kOn, {{"LD_LIBRARY_PATH", fakes_and(kUserV5.substr(0, kUserV5.rfind('/')))}});

  expect_inert();
  expect_users_own();
  expect_problem("NCCL loads the job's profiler plugin libnccl-profiler.so");
}

TEST_F(NcclProfiler, ANetworkPluginThatIsAProfilerStays) {
  const std::string folder = scratch_ / "net";
  std::filesystem::create_directory(folder);
  std::filesystem::copy(kUserV5, folder + "/libnccl-net.so");
  record(6, kOn, {{"LD_LIBRARY_PATH", fakes_and(folder)}});

  expect_inert();
  expect_users_own();
  expect_problem("NCCL uses the job's network plugin as its profiler plugin");
}

// With STATIC_PLUGIN, NCCL searches the process's libraries: profshim first, and newer interfaces before older.
class NcclProfilerStatic : public NcclProfiler, public ::testing::WithParamInterface<std::string> {};

TEST_P(NcclProfilerStatic, PluginInTheProcessItselfStays) {
  record(6, kOn, {{"NCCL_PROFILER_PLUGIN", "STATIC_PLUGIN"}}, "nccl_profiled", GetParam());

  expect_inert();
  expect_users_own();
  expect_problem("NCCL_PROFILER_PLUGIN is set to STATIC_PLUGIN");
}

INSTANTIATE_TEST_SUITE_P(OfTheUsers, NcclProfilerStatic, ::testing::Values(kUserV4, kUserV5));

TEST_F(NcclProfiler, IsNotFoundInTheProcessItself) {
  record(6, "", {{"NCCL_PROFILER_PLUGIN", "STATIC_PLUGIN"}});

  expect_inert();
  for (const SeenTrace& trace : traces_) EXPECT_EQ(trace.property("problems"), "[]");
}

// The library sets PROFSHIM_NCCL_PLUGIN for NCCL, and child processes inherit the variable.
TEST(NcclProfilerVariable, DoesNotRequestRecording) {
  Job job = shell("echo \"[$CUDA_INJECTION64_PATH]\"");
  job.environment = {{"PROFSHIM_NCCL_PLUGIN", shim_path()}};
  const Outcome outcome = run(job);

  EXPECT_EQ(outcome.out, "[]\n");
  EXPECT_EQ(outcome.err, "");
}

}  // namespace
}  // namespace profshim::e2e
