// Without a GPU, the real NCCL refuses every call, but each call passes the library's hook.
#include <dlfcn.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <map>
#include <set>
#include <sstream>

#include "e2e/support/built_programs.h"
#include "e2e/support/mpi_jobs.h"
#include "e2e/support/needs_nvtx.h"
#include "e2e/support/run_under_shim.h"
#include "e2e/support/scratch_folder.h"
#include "e2e/support/seen_trace.h"
#include "profshim/event.h"

namespace profshim::e2e {
namespace {

const std::string kLibrary = PROFSHIM_NCCL_LIBRARY;

#define NEEDS_NCCL() \
  if (kLibrary.empty()) GTEST_SKIP() << "no libnccl.so.2 on this machine: scripts/install_deps.sh --test fetches it"

struct Ran {
  Outcome outcome;
  std::vector<SeenTrace> traces;
  std::vector<std::string> files;
};

using Environment = std::vector<std::pair<std::string, std::string>>;
const Environment kOneRank = {{"RANK", "0"}, {"WORLD_SIZE", "1"}, {"LOCAL_RANK", "0"}};

Ran run_it(const std::vector<std::string>& command, bool preload, const Environment& environment = kOneRank,
           const std::string& more_spec = "") {
  const ScratchFolder scratch;
  Job job;
  job.command = command;
  job.preload = preload;
  job.environment = environment;
  job.environment.emplace_back("PROFSHIM_SPEC",
                               scratch.write("s.toml", record_all_spec(scratch / "traces") + more_spec));
  Ran ran;
  ran.outcome = run(job);
  EXPECT_EQ(ran.outcome.ending(), "exit 0") << ran.outcome.err;
  if (std::filesystem::exists(scratch / "traces")) {
    ran.traces = read_folder(scratch / "traces");
    ran.files = files_below(scratch / "traces");
  }
  return ran;
}

std::map<std::string, std::string> printed_results(const std::string& out) {
  std::map<std::string, std::string> results;
  std::istringstream lines(out);
  for (std::string name, result; lines >> name >> result;) results[name] = result;
  return results;
}

/// Only the inner of an operation's two events has the argument "function".
std::map<std::string, std::vector<const SeenEvent*>> calls_by_function(const SeenTrace& trace) {
  std::map<std::string, std::vector<const SeenEvent*>> calls;
  for (const SeenEvent& event : trace.events) {
    if (const auto at = event.args.find("function"); at != event.args.end()) calls[at->second].push_back(&event);
  }
  return calls;
}

std::string version_of_library() {
  void* const library = dlopen(kLibrary.c_str(), RTLD_LAZY | RTLD_LOCAL);
  if (library == nullptr) return "no library";
  auto* const get = reinterpret_cast<int (*)(int*)>(dlsym(library, "ncclGetVersion"));
  int code = 0;
  if (get == nullptr || get(&code) != 0) return "no version";
  return std::to_string(code / 10000) + "." + std::to_string(code % 10000 / 100) + "." + std::to_string(code % 100);
}

std::string version_in(const SeenTrace& trace) {
  const std::string of_group = json_member(trace.metadata.at("distributedInfo"), "nccl_version");
  return of_group.empty() ? trace.property("nccl_version") : of_group;
}

TEST(NcclCalls, EachReturnsTheSameAsWithoutTheLibraryAndIsRecordedOnce) {
  NEEDS_NCCL();
  const std::string program = built("tests/apps_nccl/every_call");
  const auto alone = printed_results(run_it({program}, false).outcome.out);
  const Ran ran = run_it({program}, true);
  const auto results = printed_results(ran.outcome.out);
  ASSERT_EQ(ran.traces.size(), 1U) << ran.outcome.err;
  const auto calls = calls_by_function(ran.traces[0]);

  EXPECT_EQ(results.size(), alone.size());
  for (const auto& [name, result] : results) {
    const auto at = calls.find(name);
    if (alone.at(name) == "absent") {
      EXPECT_EQ(result, "2") << name << ": ncclSystemError when the library has no such function";
      EXPECT_EQ(at, calls.end()) << name;
      continue;
    }
    EXPECT_EQ(result, alone.at(name)) << name;
    ASSERT_NE(at, calls.end()) << name << " is not in the trace";
    EXPECT_EQ(at->second.size(), 1U) << name;  // not the ncclBroadcast inside ncclBcast
    EXPECT_EQ(at->second[0]->args.count("failed"), result == "0" ? 0U : 1U) << name;
    EXPECT_EQ(at->second[0]->args.count("seen by"), 0U) << name;
  }
  for (std::size_t i = 0; i < static_cast<std::size_t>(HookId::kCount); ++i) {
    const auto hook = static_cast<HookId>(i);
    if (hook_layer(hook) == Layer::kNccl) {
      EXPECT_EQ(results.count(std::string(hook_name(hook))), 1U) << hook_name(hook);
    }
  }
  // NCCL's own NVTX ranges must not repeat the calls.
  for (const auto& [name, count] : ran.traces[0].counts("user_annotation")) {
    EXPECT_EQ(name.find("nccl:"), 0U) << name << " x " << count;
  }
}

TEST(NcclCalls, ArgumentsAreThoseOfTheCall) {
  NEEDS_NCCL();
  const Ran ran = run_it({built("tests/apps_nccl/every_call")}, true);
  ASSERT_EQ(ran.traces.size(), 1U) << ran.outcome.err;
  const auto calls = calls_by_function(ran.traces[0]);
  EXPECT_EQ(version_in(ran.traces[0]), version_of_library());
  const SeenEvent& reduce = *calls.at("ncclReduce")[0];
  EXPECT_EQ(reduce.args.at("count"), "4");
  EXPECT_EQ(reduce.args.at("bytes"), "16");
  EXPECT_EQ(reduce.args.at("dtype"), "Float");
  EXPECT_EQ(reduce.args.at("op"), "user");
  EXPECT_EQ(reduce.args.at("root"), "0");
  EXPECT_EQ(calls.at("ncclSend")[0]->args.at("peer"), "1");
  EXPECT_EQ(calls.at("ncclAllReduce")[0]->args.at("result"), "ncclInvalidArgument");
  EXPECT_EQ(calls.at("ncclAllReduce")[0]->name, "nccl:all_reduce");
  // Readers of PyTorch traces look for the outer event, record_param_comms.
  std::size_t operations = 0;
  for (const auto& [function, events] : calls) {
    operations += events[0]->name.find("nccl:") == 0 ? 1 : 0;
  }
  EXPECT_EQ(ran.traces[0].calls("record_param_comms").size(), operations);
}

TEST(NcclCalls, CallsThroughAHandleAreRecordedByTheirHooks) {
  NEEDS_NCCL();
  const std::vector<std::string> command = {built("tests/apps_nccl/without_nccl"), "-l", kLibrary};
  const Ran ran = run_it(command, true);
  EXPECT_EQ(ran.outcome.out, run_it(command, false).outcome.out);
  ASSERT_EQ(ran.traces.size(), 1U) << ran.outcome.err;
  const auto calls = calls_by_function(ran.traces[0]);
  for (const auto& [name, result] : printed_results(ran.outcome.out)) {
    if (result == "absent") continue;
    ASSERT_EQ(calls.count(name), 1U) << name;
    EXPECT_EQ(calls.at(name).size(), 1U) << name;  // not the ncclBroadcast inside ncclBcast, not NCCL's NVTX range
    EXPECT_EQ(calls.at(name)[0]->args.count("seen by"), 0U) << name;
  }
}

/// Without the hooks, NCCL's own NVTX ranges show the calls.
Environment without_lookups() {
  Environment environment = kOneRank;
  environment.emplace_back("PROFSHIM_DLSYM", "0");
  return environment;
}

TEST(NcclCalls, CallsThroughAHandleAreRecordedFromNcclsRanges) {
  NEEDS_NVTX();
  NEEDS_NCCL();
  const Ran ran = run_it({built("tests/apps_nccl/without_nccl"), "-l", kLibrary}, true, without_lookups());
  ASSERT_EQ(ran.traces.size(), 1U) << ran.outcome.err;
  const auto calls = calls_by_function(ran.traces[0]);
  for (const char* const name : {"ncclCommInitRank", "ncclAllReduce", "ncclAllGather", "ncclReduceScatter",
                                 "ncclReduce", "ncclSend", "ncclRecv", "ncclGroupStart", "ncclGroupEnd"}) {
    ASSERT_EQ(calls.count(name), 1U) << name;
    EXPECT_EQ(calls.at(name).size(), 1U) << name;
    EXPECT_EQ(calls.at(name)[0]->args.count("seen by"), 1U) << name;
  }
  EXPECT_EQ(version_in(ran.traces[0]), version_of_library());
  // ncclBcast has no NVTX range, but it calls ncclBroadcast by symbol, through the hook.
  EXPECT_EQ(calls.at("ncclBroadcast").size(), 2U);
  for (const auto& [name, count] : ran.traces[0].counts("user_annotation")) {
    EXPECT_EQ(name.find("nccl:"), 0U) << name << " x " << count;
  }
}

TEST(NcclCalls, CtypesCallsAreRecordedFromNcclsRanges) {
  NEEDS_NVTX();
  NEEDS_NCCL();
  const std::vector<std::string> command = {"/usr/bin/python3", PROFSHIM_SOURCE_DIR "/tests/apps_nccl/ctypes_calls.py",
                                            kLibrary};
  const Ran ran = run_it(command, true, without_lookups());
  EXPECT_EQ(ran.outcome.out, run_it(command, false).outcome.out);
  ASSERT_EQ(ran.traces.size(), 1U) << ran.outcome.err;
  const auto calls = calls_by_function(ran.traces[0]);
  for (const auto& [name, result] : printed_results(ran.outcome.out)) {
    if (name == "ncclGetUniqueId") continue;  // pushes no NVTX range
    ASSERT_EQ(calls.count(name), 1U) << name;
    EXPECT_EQ(calls.at(name).size(), 1U) << name;
  }
  EXPECT_EQ(calls.at("ncclAllReduce")[0]->args.at("op"), "max");
  EXPECT_EQ(calls.at("ncclAllReduce")[0]->args.at("bytes"), "16");
  EXPECT_EQ(calls.at("ncclBroadcast")[0]->args.at("root"), "3");
  EXPECT_EQ(calls.at("ncclRecv")[0]->args.at("peer"), "6");
}

TEST(NcclCalls, CtypesCallsAreRecordedByTheirHooks) {
  NEEDS_NCCL();
  const Ran ran = run_it({"/usr/bin/python3", PROFSHIM_SOURCE_DIR "/tests/apps_nccl/ctypes_calls.py", kLibrary}, true);
  ASSERT_EQ(ran.traces.size(), 1U) << ran.outcome.err;
  const auto calls = calls_by_function(ran.traces[0]);
  for (const auto& [name, result] : printed_results(ran.outcome.out)) {
    if (name == "ncclGetUniqueId") continue;  // comes before ncclCommInitRank, which begins the recording
    ASSERT_EQ(calls.count(name), 1U) << name;
    EXPECT_EQ(calls.at(name).size(), 1U) << name;
    EXPECT_EQ(calls.at(name)[0]->args.count("seen by"), 0U) << name;
  }
  EXPECT_EQ(calls.at("ncclAllReduce")[0]->args.at("op"), "max");
  EXPECT_EQ(calls.at("ncclBroadcast")[0]->args.at("root"), "3");
  EXPECT_EQ(calls.at("ncclRecv")[0]->args.at("peer"), "6");
}

TEST(NcclCalls, WithoutTheActivityItsRangesAreNvtxRanges) {
  NEEDS_NVTX();
  NEEDS_NCCL();
  const Ran ran =
      run_it({built("tests/apps_nccl/every_call")}, true, kOneRank, "[capture]\nactivities = [\"cpu\", \"nvtx\"]\n");
  ASSERT_EQ(ran.traces.size(), 1U) << ran.outcome.err;
  EXPECT_TRUE(calls_by_function(ran.traces[0]).empty());
  EXPECT_EQ(ran.traces[0].counts("user_annotation").count("ncclAllReduce"), 1U);
}

TEST(NcclCalls, LocallyOpenedLibraryIsRecorded) {
  NEEDS_NCCL();
  const std::vector<std::string> command = {built("tests/apps_nccl/local_user"),
                                            built("tests/apps_nccl/libnccl_user.so")};
  const Ran ran = run_it(command, true, {});
  EXPECT_EQ(ran.outcome.out, run_it(command, false).outcome.out);
  ASSERT_EQ(ran.traces.size(), 1U) << ran.outcome.err;
  const SeenTrace& trace = ran.traces[0];
  EXPECT_EQ(trace.rank(), 0) << "without a rank variable the communicator gives the rank";
  EXPECT_EQ(trace.property("rank_source"), "nccl");
  const auto calls = calls_by_function(trace);
  ASSERT_EQ(calls.at("ncclAllReduce").size(), 2U);
  EXPECT_EQ(calls.at("ncclAllReduce")[0]->args.count("in group"), 1U);
  EXPECT_EQ(calls.at("ncclAllReduce")[1]->args.count("in group"), 0U);
  EXPECT_EQ(calls.at("ncclSend")[0]->args.count("in group"), 1U);
  ASSERT_EQ(calls.at("ncclGroupEnd").size(), 2U);
  EXPECT_EQ(calls.at("ncclGroupEnd")[0]->args.count("operations"), 0U) << "the inner end launches nothing";
  EXPECT_EQ(calls.at("ncclGroupEnd")[1]->args.at("operations"), "2");
}

TEST(NcclCalls, ProcessWithoutNcclIsNoRankAndIsUnchanged) {
  const Ran ran = run_it({built("tests/apps_nccl/without_nccl")}, true);
  for (const auto& [name, result] : printed_results(ran.outcome.out)) EXPECT_EQ(result, "2") << name;
  EXPECT_TRUE(ran.files.empty()) << ran.files.front();
  EXPECT_EQ(ran.outcome.err, "");
}

}  // namespace
}  // namespace profshim::e2e
