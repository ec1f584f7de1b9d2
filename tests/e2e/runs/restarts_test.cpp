// torchrun --max-restarts starts all ranks again in the same run.
#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include "e2e/support/built_programs.h"
#include "e2e/support/machine/killed_jobs.h"
#include "e2e/support/machine/own_shared_memory.h"
#include "e2e/support/mpi_jobs.h"
#include "e2e/support/seen_trace.h"

namespace profshim::e2e {
namespace {

class Restarts : public testing::Test {
 protected:
  void SetUp() override {
    if (!shared_memory_.mount_of(2ull << 30)) GTEST_SKIP() << "mounting is not allowed here";
  }
  void TearDown() override { remove_spools(); }

  /// A rank of two, as the agent of torchrun starts it: this program is the agent.
  Job rank(int number, int attempt) const {
    Job job = endless(scratch_, run_, record_all_spec(run_));
    job.command = {job.command[0], "return", "1"};
    for (const auto& [name, value] : {std::pair{"RANK", number},
                                      {"LOCAL_RANK", number},
                                      {"WORLD_SIZE", 2},
                                      {"LOCAL_WORLD_SIZE", 2},
                                      {"TORCHELASTIC_RESTART_COUNT", attempt}})
      job.environment.emplace_back(name, std::to_string(value));
    job.environment.emplace_back("PROFSHIM_SET", "ranks.source=RANK");  // MPI knows one rank
    return job;
  }
  void run_attempt(int attempt) const {
    for (const int number : {0, 1}) ASSERT_EQ(run(rank(number, attempt)).ending(), "exit 0");
  }
  /// Returns what the command says on stderr. Expects that it succeeds.
  std::string said_by(const std::vector<std::string>& command) const {
    const Outcome outcome = profshim(command);
    EXPECT_EQ(outcome.ending(), "exit 0") << command[0] << ": " << outcome.err;
    return outcome.err;
  }

  const ScratchFolder scratch_;
  const std::string run_ = scratch_ / "run", merged_ = scratch_ / "merged.json";

 private:
  OwnSharedMemory shared_memory_;
};

/// Attempts of the two ranks of a merged trace, or of one trace.
std::string attempts_in(const std::string& path) {
  const std::string text = text_of_file(path);
  std::string found;
  for (std::size_t at = 0; (at = text.find("\"attempt\":", at)) != std::string::npos; at += 10)
    found += text[text.find_first_of("0123456789", at)];
  return found;
}

TEST_F(Restarts, EachTraceNamesItsAttempt) {
  run_attempt(0);
  run_attempt(1);

  std::string attempts;
  for (const SeenTrace& trace : read_folder(run_)) attempts += trace.property("attempt");

  EXPECT_EQ(attempts, "0101") << "rank0, rank0_part2, rank1, rank1_part2";
}

TEST_F(Restarts, TheNewestAttemptIsReadAndTheOtherIsNamed) {
  run_attempt(0);
  run_attempt(1);
  const std::string said = "attempt 0 left out: 2 traces", page = scratch_ / "page.html";

  EXPECT_NE(said_by({"summary", run_}).find(said), std::string::npos);
  EXPECT_NE(said_by({"report", run_, "-o", page}).find(said), std::string::npos);
  EXPECT_NE(said_by({"compare", run_, run_}).find(said), std::string::npos);
  EXPECT_NE(said_by({"merge", run_, "-o", merged_}).find(said), std::string::npos);
  EXPECT_EQ(attempts_in(merged_), "11");
  EXPECT_EQ(profshim({"verify", run_}).out.find("left out"), std::string::npos);
}

TEST_F(Restarts, AnEarlierAttemptCanBeChosen) {
  run_attempt(0);
  run_attempt(1);

  EXPECT_NE(said_by({"merge", run_, "--attempt", "0", "-o", merged_}).find("attempt 1 left out"), std::string::npos);

  EXPECT_EQ(attempts_in(merged_), "00");
}

TEST_F(Restarts, OneAttemptIsReadWithoutALine) {
  run_attempt(1);

  EXPECT_EQ(said_by({"summary", run_}), "");
  EXPECT_EQ(said_by({"merge", run_, "-o", merged_}), "");
}

// The rank that fails is killed; the agent ends the others.
TEST_F(Restarts, RecoveredTracesKeepTheirAttempt) {
  Job killed = rank(0, 0);
  killed.command = {killed.command[0], "forever", "1", "500"};
  ASSERT_TRUE(run_until(killed, [&] { return records(run_); }));
  Job next = rank(0, 1);
  next.command = killed.command;
  ASSERT_TRUE(run_until(next, [&] { return !traces_below(run_).empty() && spools().size() == 1 && records(run_); }));
  ASSERT_EQ(profshim({"recover", run_}).ending(), "exit 0");

  const Outcome listed = profshim({"ls", run_});
  const std::string said = said_by({"summary", run_});

  EXPECT_NE(listed.out.find("recovered, attempt 1: the process was killed"), std::string::npos) << listed.out;
  EXPECT_NE(said.find("attempt 0 left out: 1 trace"), std::string::npos) << said;
}

}  // namespace
}  // namespace profshim::e2e
