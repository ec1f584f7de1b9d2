#include <gtest/gtest.h>
#include <signal.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <random>
#include <set>
#include <thread>

#include "e2e/support/run_under_shim.h"
#include "e2e/support/runner_hints.h"
#include "e2e/support/scratch_folder.h"
#include "e2e/support/seen_trace.h"
#include "e2e/support/torch_run.h"

namespace profshim::e2e {
namespace {

constexpr int kPrograms = 30;

struct Ending {
  std::string way;  // first argument of import_moment.py
  int moment = 0;   // number of the import that ends the program
  int signal = 0;   // sent by the test; 0 = none
  int after_ms = 0;
  std::string seen;
  std::string err;
  bool recorded = false;

  std::string text() const {
    return signal != 0 ? "signal " + std::to_string(signal) + " after " + std::to_string(after_ms) + " ms"
                       : way + " at import " + std::to_string(moment);
  }
};

Outcome run_one(const ScratchFolder& scratch, const Ending& one, bool preload) {
  Job job = torch_job(scratch, Launch::kAlone, "import_moment.py " + one.way + " " + std::to_string(one.moment),
                      "steps.source=none");
  job.preload = preload;
  if (one.signal != 0) {
    job.while_running = [&one](int pid) {
      std::this_thread::sleep_for(std::chrono::milliseconds(one.after_ms));
      kill(pid, one.signal);
    };
  }
  return run(job);
}

/// Runs two programs at a time, because each waits half of the time.
void run_all(std::vector<Ending>& endings, bool preload) {
  std::atomic<std::size_t> next{0};
  const auto work = [&] {
    for (std::size_t i = next++; i < endings.size(); i = next++) {
      const ScratchFolder scratch;
      const Outcome outcome = run_one(scratch, endings[i], preload);
      endings[i].seen = outcome.ending();
      endings[i].err = outcome.err;
      endings[i].recorded = !files_below(scratch / "traces").empty();
    }
  };
  std::thread other(work);
  work();
  other.join();
}

std::vector<Ending> draw(int imports, int whole_ms) {
  std::mt19937 random(20261122u + static_cast<unsigned>(torch_major()));
  const auto up_to = [&random](int limit) { return static_cast<int>(random() % static_cast<unsigned>(limit)) + 1; };
  std::vector<Ending> endings;
  for (int i = 0; i < kPrograms; ++i) {
    switch (i % 7) {
      case 0:
        endings.push_back({.way = "exit", .moment = up_to(imports)});
        break;
      case 1:
        endings.push_back({.way = "_exit", .moment = up_to(imports)});
        break;
      case 2:
        endings.push_back({.way = "thread_exit", .moment = up_to(imports)});
        break;
      case 3:
        endings.push_back({.way = "SIGINT", .moment = up_to(imports)});
        break;
      case 4:
        endings.push_back({.way = "SIGTERM", .moment = up_to(imports)});
        break;
      default:
        endings.push_back({.way = "none", .signal = i % 7 == 5 ? SIGINT : SIGTERM, .after_ms = up_to(whole_ms)});
        break;
    }
  }
  return endings;
}

/// Returns possible endings. "exit 0": the signal or exit() came too late.
std::set<std::string> endings_of(const Ending& one) {
  if (one.signal == SIGTERM) return {"signal 15", "exit 0"};
  // "exit 1": Python was not ready, or an extension raised another exception. "exit 0" also: some code takes
  // every exception for "not installed".
  if (one.signal == SIGINT || one.way == "SIGINT") return {"signal 2", "exit 0", "exit 1"};
  if (one.way == "exit") return {"exit 3", "exit 0", "exit 1"};
  if (one.way == "SIGTERM") return {"signal 15"};
  if (one.way == "thread_exit") return {"exit 3", "exit 0"};
  return {"exit 3"};
}

/// PyTorch aborts if pybind11 throws KeyboardInterrupt in C++ code that must not throw. profshim does not use pybind11.
bool broke_in_pybind11(const Ending& one) {
  return one.signal == SIGINT && one.seen == "signal 6" &&
         one.err.find("pybind11::error_already_set") != std::string::npos &&
         one.err.find("KeyboardInterrupt") != std::string::npos;
}

void expect_usual_endings(const std::vector<Ending>& endings) {
  for (const Ending& one : endings) {
    if (broke_in_pybind11(one)) continue;
    EXPECT_TRUE(endings_of(one).count(one.seen)) << one.text() << ": " << one.seen << "\n" << one.err;
    if (one.seen == "exit 1") {
      EXPECT_NE(one.err.find("Traceback"), std::string::npos) << one.text() << one.err;
    }
  }
}

RUNS_IN_ONE_PROCESS(TorchImport);

class TorchImport : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    if (torch_major() == 0) return;
    const ScratchFolder scratch;
    const Outcome whole = run_one(scratch, {.way = "none"}, false);
    ASSERT_EQ(whole.ending(), "exit 0") << whole.err;
    endings_ = draw(std::stoi(whole.out), static_cast<int>(whole.seconds * 1000));
  }
  static inline std::vector<Ending> endings_;
};

TEST_F(TorchImport, EndsInTheWayThatTheProgramEndsIt) {
  NEEDS_TORCH(1);

  run_all(endings_, true);

  expect_usual_endings(endings_);
  const auto recorded = std::count_if(endings_.begin(), endings_.end(), [](const Ending& one) { return one.recorded; });
  EXPECT_GE(recorded, kPrograms / 5);
  std::vector<Ending> bare;
  for (const Ending& one : endings_)
    if (one.way == "SIGINT" || one.way == "exit") bare.push_back(one);
  const std::vector<Ending> with = bare;
  run_all(bare, false);
  for (std::size_t i = 0; i < bare.size(); ++i) EXPECT_EQ(with[i].seen, bare[i].seen) << with[i].text();
}

TEST_F(TorchImport, EndsTheSameWayWithoutTheLibrary) {
  NEEDS_TORCH(1);
  std::vector<Ending> some;
  for (const Ending& one : endings_)
    if (one.signal != 0 && some.size() < 6) some.push_back(one);

  run_all(some, false);

  expect_usual_endings(some);
}

TEST_F(TorchImport, ActivatesInTheMiddleOfIt) {
  NEEDS_TORCH(1);
  const ScratchFolder scratch;

  const Outcome outcome = run(torch_job(scratch, Launch::kAlone, "import_moment.py none 0", "steps.source=none"));

  EXPECT_EQ(outcome.ending(), "exit 0") << outcome.err;
  const auto traces = read_folder(scratch / "traces");
  ASSERT_EQ(traces.size(), 1u) << outcome.err;
  EXPECT_GT(traces[0].calls("aten::can_cast").size(), 0u);
  EXPECT_EQ(traces[0].property("problems"), "[]");
}

}  // namespace
}  // namespace profshim::e2e
