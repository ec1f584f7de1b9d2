#include <gtest/gtest.h>

#include <cstdlib>

#include "e2e/support/run_under_shim.h"
#include "e2e/support/scratch_folder.h"
#include "e2e/support/seen_trace.h"
#include "e2e/support/torch_run.h"

namespace profshim::e2e {
namespace {

std::size_t negated(const Outcome& outcome) {
  const std::size_t at = outcome.out.find("negated ");
  return at == std::string::npos ? 0 : std::strtoul(outcome.out.c_str() + at + 8, nullptr, 10);
}

TEST(TorchOverhead, IsMeasuredAndTheMeasurementIsNotInTheTrace) {
  NEEDS_TORCH(1);
  const ScratchFolder scratch;

  const Outcome outcome = run(torch_job(scratch, Launch::kAlone, "negations.py", "steps.source=none"));

  EXPECT_EQ(outcome.ending(), "exit 0") << outcome.err;
  const auto traces = read_folder(scratch / "traces");
  ASSERT_EQ(traces.size(), 1u) << outcome.err;
  EXPECT_GT(std::atof(traces[0].property("overhead_percent").c_str()), 0) << outcome.err;
  EXPECT_GT(negated(outcome), 10u);
  EXPECT_EQ(traces[0].calls("aten::neg_").size(), negated(outcome));
  EXPECT_EQ(traces[0].property("dropped_events"), "0");
}

TEST(TorchOverhead, IsNotMeasuredIfThereIsAnotherObserver) {
  NEEDS_TORCH(2);
  const ScratchFolder scratch;

  const Outcome outcome = run(torch_job(scratch, Launch::kAlone,
                                        "negations.py --observer " + (scratch / "observed.json"), "steps.source=none"));

  EXPECT_EQ(outcome.ending(), "exit 0") << outcome.err;
  EXPECT_NE(outcome.out.find("observed 0\n"), std::string::npos) << outcome.out;
  const auto traces = read_folder(scratch / "traces");
  ASSERT_EQ(traces.size(), 1u) << outcome.err;
  EXPECT_EQ(traces[0].property("overhead_percent"), "");
  EXPECT_EQ(traces[0].calls("aten::neg_").size(), negated(outcome));
}

}  // namespace
}  // namespace profshim::e2e
