// [[phase]] by Python function, with each Python from 3.10 on that this machine has.
#include <gtest/gtest.h>

#include "e2e/support/recorded_jobs.h"
#include "e2e/support/torch_run.h"
#include "phase_events.h"

namespace profshim::e2e {
namespace {

/// Needs no package: calls MPI by ctypes.
constexpr const char* kScript = R"(
import asyncio, ctypes, sys
library = ctypes.CDLL("libmpi.so.40", mode=ctypes.RTLD_GLOBAL)
mpi = ctypes.CDLL(None)
mpi.MPI_Init(None, None)
world = ctypes.byref(ctypes.c_char.in_dll(library, "ompi_mpi_comm_world"))
def barrier():
    mpi.MPI_Barrier(world)
class Base:
    def rollout(self, n):
        for _ in range(n):
            barrier()
        if n == 4:
            return
        self.helper()
    def helper(self):
        barrier()
    @classmethod
    def evaluate(cls):
        barrier()
class Trainer(Base):
    def actor(self, fails):
        barrier()
        if fails:
            raise ValueError()
        barrier()
def recurse(depth):
    barrier()
    if depth:
        recurse(depth - 1)
def batches(n):
    for i in range(n):
        barrier()
        yield i
async def serve():
    barrier()
    await asyncio.sleep(0.001)
    barrier()
def main():
    def inner():
        barrier()
    trainer = Trainer()
    for step in range(6):
        barrier()
        trainer.rollout(3 + step % 2)
        try:
            trainer.actor(step == 2)
        except ValueError:
            pass
        Trainer.evaluate()
        recurse(3)
        inner()
        for _ in batches(2):
            barrier(); barrier(); barrier()
        for _ in batches(5):
            barrier(); break
        asyncio.run(serve())
main()
mpi.MPI_Finalize()
)";

Job python_job(const ScratchFolder& scratch, const std::string& python, const std::string& spec) {
  Job job = phases_job(scratch, 1, {}, spec);
  job.command = {python, "-c", kScript};
  return job;
}

TEST(PhasesOfPython, AreCallsOfTheFunctionsThatThePatternNames) {
  for (const std::string& python : pythons()) {
    SCOPED_TRACE(python);
    const ScratchFolder scratch;

    const Outcome outcome = run(python_job(
        scratch, python,
        "[steps]\nsource = \"none\"\n[[phase]]\nname = \"rollout\"\npython = \"Base.rollout\"\n[[phase]]\nname = "
        "\"actor\"\npython = \"__main__.Trainer.actor\"\n[[phase]]\nname = \"evaluation\"\npython = \"*.evaluate\"\n"
        "[[phase]]\nname = \"recursion\"\npython = \"recurse\"\n[[phase]]\nname = \"data\"\npython = \"batches\"\n"
        "[[phase]]\nname = \"serving\"\npython = \"serve\"\n[[phase]]\nname = \"inner\"\npython = \"inner\"\n"));

    EXPECT_EQ(outcome.ending(), "exit 0") << outcome.err;
    const auto traces = read_folder(scratch / "traces");
    ASSERT_EQ(traces.size(), 1u) << outcome.err;
    EXPECT_EQ(by_phase(traces[0], "MPI_Barrier"), (std::map<std::string, int>{{"-", 6 * (1 + 6 + 1)},
                                                                              {"rollout", 6 * 4},
                                                                              {"actor", 5 * 2 + 1},
                                                                              {"evaluation", 6},
                                                                              {"recursion", 6 * 4},
                                                                              {"data", 6 * 3},
                                                                              {"serving", 6 * 2},
                                                                              {"inner", 6}}));
    EXPECT_EQ(by_range(traces[0], "rollout"), (std::map<std::string, int>{{"Base.rollout", 6}}));
    EXPECT_EQ(by_range(traces[0], "actor"), (std::map<std::string, int>{{"Trainer.actor", 6}}));
    EXPECT_EQ(by_range(traces[0], "recursion"), (std::map<std::string, int>{{"recurse", 6}}));
    // A generator is in progress while it runs: at its start, and each time that it goes on.
    EXPECT_EQ(by_range(traces[0], "data")["batches"], 6 * 2);
    EXPECT_EQ(by_range(traces[0], "serving"), (std::map<std::string, int>{{"serve", 6}, {"serve resumed", 6}}));
    EXPECT_EQ(traces[0].property("problems"), "[]");
  }
}

TEST(PhasesOfPython, HaveWindowsFromTheirStartToTheirReturn) {
  for (const std::string& python : pythons()) {
    SCOPED_TRACE(python);
    const ScratchFolder scratch;

    const Outcome outcome = run(python_job(
        scratch, python,
        "[steps]\nsource = \"nvtx\"\npattern = \"none\"\n[[phase]]\nname = \"data\"\npython = \"batches\"\nmode = "
        "\"window\"\nschedule = { steps = [2, 3, 5] }\n[[phase]]\nname = \"serving\"\npython = \"serve\"\nmode = "
        "\"window\"\nschedule = { steps = [4] }\n[[phase]]\nname = \"deep\"\npython = \"recurse\"\nmode = \"window\"\n"
        "steps = { source = \"python\", pattern = \"barrier\" }\nschedule = { steps = [6] }\n"));

    EXPECT_EQ(outcome.ending(), "exit 0") << outcome.err;
    std::map<std::string, std::size_t> barriers;
    for (const SeenTrace& trace : read_folder(scratch / "traces")) {
      const std::string phase = trace.property("phase");
      barriers[json_member(phase, "name") + " " + json_member(phase, "occurrence")] = trace.calls("MPI_Barrier").size();
    }
    // Occurrences 3 and 5 of "batches" end where the loop around them breaks off.
    EXPECT_EQ(barriers, (std::map<std::string, std::size_t>{
                            {"data 2", 2 * 4}, {"data 3", 2}, {"data 5", 2}, {"serving 4", 2}, {"deep 1", 1}}))
        << outcome.err;
  }
}

TEST(TorchPhases, SeeFunctionsThatAreCompiled) {
  NEEDS_TORCH(2);
  const ScratchFolder scratch;
  const std::string script = R"(
import torch
x = torch.ones(4, 4)
@torch.compile(backend="eager")
def forward(x):
    return torch.mm(x, x).relu()
def rollout():
    for _ in range(5):
        forward(x)
def train_actor():
    torch.mm(x, x)
torch.mm(x, x)
for step in range(6):
    with torch.profiler.record_function(f"step {step}"):
        rollout()
        train_actor()
)";
  const std::string spec = R"(
version = 1
[steps]
source = "torch"
pattern = "step *"
[schedule]
steps = ["4-5"]
[output]
folder = "traces"
[[phase]]
name = "rollout"
python = "rollout"
[[phase]]
name = "forward"
python = "forward"
[[phase]]
name = "actor"
python = "train_*"
)";

  const Outcome outcome = run(torch_lines(scratch, script, spec));

  EXPECT_EQ(outcome.ending(), "exit 0") << outcome.err;
  const auto traces = read_folder(scratch / "traces");
  ASSERT_EQ(traces.size(), 1u) << outcome.err;
  EXPECT_EQ(by_phase(traces[0], "aten::mm"), (std::map<std::string, int>{{"rollout > forward", 10}, {"actor", 2}}));
}

TEST(PhasesOfPython, ThatNoCallMatchesAreNamed) {
  const ScratchFolder scratch;

  const Outcome outcome = run(python_job(scratch, "/usr/bin/python3",
                                         "[steps]\nsource = \"nvtx\"\npattern = \"none\"\n[[phase]]\nname = "
                                         "\"a\"\npython = \"rolout\"\nmode = \"window\"\n"));

  EXPECT_EQ(
      lines_with(outcome, "no window of phase \"a\" was reached: no call of a Python function matched \"rolout\""), 1u)
      << outcome.err;
}

}  // namespace
}  // namespace profshim::e2e
