// Commands on traces with phases, and on the traces of a phase's windows.
#include <gtest/gtest.h>

#include "e2e/support/needs_nvtx.h"
#include "e2e/support/recorded_jobs.h"
#include "e2e/support/seen_trace.h"

namespace profshim::e2e {
namespace {

bool holds(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

constexpr const char* kPhases =
    "[ranks]\nselect = \"all\"\n[steps]\nsource = \"nvtx\"\npattern = \"rl_step*\"\n[schedule]\nsteps = [\"1-6\"]\n"
    "[[phase]]\nname = \"rollout\"\nnvtx = \"rollout*\"\n"
    "[[phase]]\nname = \"actor\"\nnvtx = \"actor_train*\"\n";

/// Records two ranks. Returns the folder of the traces.
std::string record(const ScratchFolder& scratch, const std::string& name, int micro_batches, const std::string& spec) {
  const std::string folder = scratch / name;
  const Outcome outcome = run(phases_job(scratch, 2, {"9", std::to_string(micro_batches)},
                                         spec + "[output]\ngzip = false\nfolder = \"" + folder + "/{phase}\"\n"));
  EXPECT_EQ(outcome.ending(), "exit 0") << outcome.err;
  return folder;
}

class PhaseCommands : public NeedsNvtx {
 protected:
  const ScratchFolder scratch_;
};

TEST_F(PhaseCommands, ReportShowsPhases) {
  const std::string traces = record(scratch_, "run", 4, kPhases), page = scratch_ / "report.html";

  const Outcome made = profshim({"report", traces, "-o", page});

  EXPECT_EQ(made.ending(), "exit 0") << made.err;
  EXPECT_TRUE(holds(made.out, "\nPhase actor takes ")) << made.out;
  const std::string text = text_of_file(page);
  EXPECT_TRUE(holds(text, "<h2>Phases</h2>"));
  EXPECT_TRUE(holds(text, "<h3>Phases of each rank</h3>"));
}

TEST_F(PhaseCommands, CompareTellsWhichPhaseDiffers) {
  const std::string four = record(scratch_, "four", 4, kPhases), same = record(scratch_, "same", 4, kPhases);
  std::string none = kPhases;
  none.replace(none.rfind("actor_train*"), 12, "no such range");
  const std::string without = record(scratch_, "without", 4, none);

  const Outcome equal = profshim({"compare", four, same}), other = profshim({"compare", four, without});

  EXPECT_FALSE(holds(equal.out, "REGRESSION  phase")) << equal.out;
  EXPECT_TRUE(holds(other.out, "the phase actor is in the earlier run only: not compared")) << other.out;
}

TEST_F(PhaseCommands, RulesCountInsideAPhase) {
  const std::string traces = record(scratch_, "run", 4, kPhases);
  const auto checked = [&](const std::string& phase, const std::string& max) {
    return profshim({"compare", "--spec",
                     scratch_.write("ci.toml",
                                    "version = 1\n[[check.rule]]\nmetric = \"calls_per_step\"\nname = "
                                    "\"MPI_Barrier\"\nphase = \"" +
                                        phase + "\"\nmax = " + max + "\n"),
                     traces});
  };

  EXPECT_EQ(checked("rollout", "3").ending(), "exit 0");
  EXPECT_EQ(checked("actor", "9").ending(), "exit 0");
  const Outcome broken = checked("actor", "8");
  EXPECT_EQ(broken.ending(), "exit 1") << broken.out;
  EXPECT_TRUE(holds(broken.out, "calls_per_step of MPI_Barrier in phase actor")) << broken.out;
}

TEST_F(PhaseCommands, WindowsOfAPhaseAreReadFromTheirFolder) {
  const std::string spec = std::string(kPhases) +
                           "mode = \"window\"\nschedule = { skip_first = 1, warmup = 0, active = 3, repeat = 1 }\n"
                           "[limits]\nwindow_seconds = 60\n";
  const std::string run = record(scratch_, "run", 4, spec), more = record(scratch_, "more", 5, spec);

  const Outcome verified = profshim({"verify", "--quiet", run + "/actor"}),
                summed = profshim({"summary", "--phases", "--json", run + "/actor"}),
                same = profshim({"compare", run + "/actor", run + "/actor"}),
                other = profshim({"compare", run + "/actor", more + "/actor"}),
                mixed = profshim({"compare", run + "/actor", run + "/step"});

  EXPECT_EQ(verified.ending(), "exit 0") << verified.out << verified.err;
  EXPECT_TRUE(holds(summed.out, "\"occurrences\": 6")) << summed.out << summed.err;
  EXPECT_EQ(same.ending(), "exit 0") << same.err;
  EXPECT_TRUE(holds(same.out, "2 ranks, 3 windows, ")) << same.out;
  EXPECT_EQ(other.ending(), "exit 1") << other.out << other.err;
  EXPECT_TRUE(holds(other.out, "9 -> 11")) << other.out;
  EXPECT_EQ(mixed.ending(), "exit 2");
  EXPECT_TRUE(holds(mixed.err, "has windows of the phase actor")) << mixed.err;
}

}  // namespace
}  // namespace profshim::e2e
