#include <gtest/gtest.h>

#include "e2e/support/needs_nvtx.h"
#include "e2e/support/recorded_jobs.h"
#include "e2e/support/seen_trace.h"

namespace profshim::e2e {
namespace {

TEST(TraceNames, HoldTheEpochOfTheWindow) {
  NEEDS_NVTX();
  const ScratchFolder scratch;
  Job job = epochs_job(scratch, {"5", "3", "4", "0"},
                       "[steps]\nsource = \"nvtx\"\npattern = \"step *\"\nepoch = \"epoch *\"\n[schedule]\n"
                       "per = \"epoch\"\nskip_first = 1\nwarmup = 0\nactive = 2\nrepeat = 1\n");
  job.environment.emplace_back("PROFSHIM_SET", "output.filename=e{epoch}.{step}.pt.trace.json");

  const Outcome outcome = run(job);

  std::vector<std::string> names;
  for (const std::string& path : traces_below(scratch / "traces")) names.push_back(path.substr(path.rfind('/') + 1));
  EXPECT_EQ(names, (std::vector<std::string>{"e5-rank0.1.pt.trace.json", "e6-rank0.5.pt.trace.json",
                                             "e7-rank0.9.pt.trace.json"}))
      << outcome.err;
}

TEST(TraceNames, NeedNoSuffixForTheReaders) {
  const ScratchFolder scratch;
  Job job = heat_job(scratch, 2, 20,
                     "steps.source=collective steps.pattern=MPI_Allreduce schedule.skip_first=2 schedule.active=3 "
                     "schedule.repeat=2 output.filename=trace.json");
  ASSERT_EQ(run(job).ending(), "exit 0");
  const std::string folder = scratch / "traces";

  for (const std::vector<std::string>& command :
       {std::vector<std::string>{"verify", folder}, {"summary", folder}, {"compare", folder, folder}}) {
    const Outcome outcome = profshim(command);
    EXPECT_EQ(outcome.ending(), "exit 0") << command[0] << ": " << outcome.out << outcome.err;
  }
  const Outcome report = profshim({"report", folder, "-o", scratch / "report.html"});
  EXPECT_EQ(report.ending(), "exit 0") << report.err;
  const Outcome both = profshim({"merge", folder, "-o", scratch / "merged.json"});
  EXPECT_NE(both.err.find("are of different windows"), std::string::npos) << both.err;
  const Outcome one = profshim(
      {"merge", folder + "/trace-rank0-w0.json", folder + "/trace-rank1-w0.json", "-o", scratch / "merged.json"});
  EXPECT_EQ(one.ending(), "exit 0") << one.err;
}

}  // namespace
}  // namespace profshim::e2e
