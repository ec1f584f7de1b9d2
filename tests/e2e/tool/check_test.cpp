#include <gtest/gtest.h>

#include "e2e/support/recorded_jobs.h"

namespace profshim::e2e {
namespace {

TEST(CheckCommand, EstimatesTheTraceAndTriesTheFolder) {
  const ScratchFolder scratch;
  const std::string large = scratch.write("large.toml", "version = 1\n[schedule]\nactive = 100000\n");
  const std::string file = scratch.write("file", "in the way");
  const std::string blocked =
      scratch.write("blocked.toml", "version = 1\n[output]\nfolder = \"" + file + "/{run_name}\"\n");

  const Outcome size = profshim({"check", large});
  const Outcome folder = profshim({"check", blocked});
  const Outcome fine = profshim({"check", scratch.write("fine.toml", "version = 1\n")});

  EXPECT_EQ(size.ending(), "exit 0");
  EXPECT_NE(size.err.find("limits.trace_size"), std::string::npos) << size.err;
  EXPECT_NE(size.err.find("100000000 events"), std::string::npos) << size.err;
  EXPECT_EQ(folder.ending(), "exit 0");
  EXPECT_NE(folder.err.find("on this machine: "), std::string::npos) << folder.err;
  EXPECT_EQ(fine.err, "");
}

}  // namespace
}  // namespace profshim::e2e
