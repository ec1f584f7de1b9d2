#include <gtest/gtest.h>

#include "e2e/support/built_programs.h"
#include "e2e/support/mpi_jobs.h"
#include "e2e/support/needs_nvtx.h"
#include "e2e/support/run_under_shim.h"
#include "e2e/support/scratch_folder.h"
#include "e2e/support/seen_trace.h"

namespace profshim::e2e {
namespace {

struct Ran {
  Outcome outcome;
  std::vector<SeenTrace> traces;
};

Ran run_rank(const std::vector<std::string>& command, const std::string& spec,
             const std::vector<std::pair<std::string, std::string>>& environment = {}) {
  const ScratchFolder scratch;
  Job job = mpirun(Mpi::kOpenMpi, 1, command);
  job.environment.insert(job.environment.end(), environment.begin(), environment.end());
  job.environment.emplace_back(
      "PROFSHIM_SPEC", scratch.write("s.toml", "version = 1\n" + spec + "[output]\nfolder = \"" + (scratch / "traces") +
                                                   "\"\ngzip = false\n"));
  Ran ran;
  ran.outcome = run(job);
  ran.traces = read_folder(scratch / "traces");
  EXPECT_EQ(ran.outcome.ending(), "exit 0") << ran.outcome.err;
  return ran;
}

const char* const kStepFive = "[steps]\nsource = \"nvtx\"\npattern = \"training_step_*\"\n[schedule]\nsteps = [5]\n";

using Nvtx = NeedsNvtx;

TEST_F(Nvtx, AStepHoldsEveryRangeOnceAndBeginsWithItsMarker) {
  const Ran ran = run_rank({built("tests/apps_nvtx/nvtx_all")}, kStepFive);

  ASSERT_EQ(ran.traces.size(), 1U) << ran.outcome.err;
  const SeenTrace& trace = ran.traces[0];
  const std::map<std::string, int> counts = trace.counts("user_annotation");
  for (const char* const once : {"training_step_5", "plain", "with-payload", "(unnamed)", "wide \xe2\x82\xac"}) {
    EXPECT_EQ(counts.count(once) == 0 ? 0 : counts.at(once), 1) << once;
  }
  EXPECT_EQ(counts.at("registered-string"), 2);
  EXPECT_EQ(trace.calls("training_step_5")[0]->ts_ns, trace.calls("ProfilerStep#5")[0]->ts_ns);
  EXPECT_NE(trace.calls("with-payload")[0]->args.at("payload").find("Message size [bytes]"), std::string::npos);
  EXPECT_NE(ran.outcome.out.find("levels 1 0 1 1 1 0"), std::string::npos) << "step 5 is recorded";
}

TEST_F(Nvtx, NamesOfAnyBytesBecomeValidJson) {
  const Ran ran = run_rank({built("tests/apps_nvtx/nvtx_names")}, "[steps]\nsource = \"none\"\n");

  ASSERT_EQ(ran.traces.size(), 1U) << ran.outcome.err;
  ASSERT_TRUE(ran.traces[0].readable) << ran.traces[0].error;
  const std::map<std::string, int> counts = ran.traces[0].counts("user_annotation");
  for (const char* const name :
       {"quote \" and backslash \\", "control \x01\b\f\n\r\t\x1f\x7f", "</script> {\"ph\":\"X\"} \xf0\x9f\x98\x80"})
    EXPECT_EQ(counts.count(name), 1U) << name;
  int replaced = 0;  // invalid UTF-8 becomes U+FFFD
  for (const auto& [name, count] : counts)
    if (name.find("\xef\xbf\xbd") != std::string::npos &&
        (name.find("broken ") == 0 || (name.find("over") == 0 && name.find(" surrogate") != std::string::npos)))
      replaced += count;
  EXPECT_EQ(replaced, 2);
}

TEST_F(Nvtx, ChainedToolSeesTheSameAsAlone) {
  const std::string tool = built("tests/apps_nvtx/libfake_tool.so");
  const auto report = [](const std::string& text) {
    const std::size_t at = text.find("fake tool:");
    return at == std::string::npos ? text : text.substr(at, text.find('\n', at) - at);
  };

  const Ran both = run_rank({built("tests/apps_nvtx/nvtx_all")}, kStepFive,
                            {{"NVTX_INJECTION64_PATH", tool}, {"PROFSHIM_NVTX_CHAIN", "1"}});
  Job alone = mpirun(Mpi::kOpenMpi, 1, {built("tests/apps_nvtx/nvtx_all")});
  alone.environment.emplace_back("NVTX_INJECTION64_PATH", tool);
  alone.preload = false;
  const Outcome reference = run(alone);

  EXPECT_EQ(report(both.outcome.err), report(reference.err));
  EXPECT_NE(report(both.outcome.err).find("strangers 0"), std::string::npos);
  EXPECT_EQ(both.outcome.out, reference.out);
  EXPECT_EQ(both.traces.size(), 1U);
}

TEST_F(Nvtx, ARangeThatTheChainedToolDoesNotKnowHasItsEnd) {
  const Ran ran =
      run_rank({built("tests/apps_nvtx/nvtx_payload_ranges")}, "[steps]\nsource = \"none\"\n",
               {{"NVTX_INJECTION64_PATH", built("tests/apps_nvtx/libfake_tool.so")}, {"PROFSHIM_NVTX_CHAIN", "1"}});

  ASSERT_EQ(ran.traces.size(), 1U) << ran.outcome.err;
  int begins = 0;
  for (const SeenEvent& e : ran.traces[0].events) {
    if (e.name != "payload range") continue;
    begins += e.phase == "b";
    EXPECT_EQ(e.args.count("finished"), 0U);
  }
  EXPECT_EQ(begins, 2);
  EXPECT_NE(ran.outcome.err.find("ends 0 strangers 0"), std::string::npos) << ran.outcome.err;
}

class SymbolSteps : public testing::TestWithParam<const char*> {};

TEST_P(SymbolSteps, EveryCallIsCountedAndTheProgramStaysCorrect) {
  const Ran ran = run_rank({built(std::string("tests/apps_symbol/calls_") + GetParam())},
                           "[profile]\nlog_level = \"info\"\n[steps]\nsource = \"symbol\"\npattern = "
                           "\"shape_floats\"\n[schedule]\nsteps = [3]\n");

  ASSERT_EQ(ran.traces.size(), 1U) << ran.outcome.err;
  EXPECT_EQ(ran.traces[0].steps(), (std::vector<std::int64_t>{3}));
  EXPECT_NE(ran.outcome.err.find("10 seen"), std::string::npos) << ran.outcome.err;
}
INSTANTIATE_TEST_SUITE_P(Compiled, SymbolSteps, testing::Values("plain", "debug", "small", "cet", "fixed"));

}  // namespace
}  // namespace profshim::e2e
