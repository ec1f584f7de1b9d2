// `make test` uses Debian's PyTorch, `make test-torch` a PyTorch from PyPI.
#pragma once

#include <gtest/gtest.h>

#include <map>
#include <string>

#include "run_under_shim.h"
#include "scratch_folder.h"
#include "seen_trace.h"

namespace profshim::e2e {

const std::string& torch_python();
/// Returns 0 without PyTorch.
int torch_major();
std::string torch_app(const std::string& name);

#define NEEDS_TORCH(major)                                                     \
  if (torch_major() < (major))                                                 \
  GTEST_SKIP() << "no PyTorch " << (major) << " in " << torch_python() << ": " \
               << ((major) > 1 ? "make test-torch" : "apt install python3-torch")

/// Debian's PyTorch 2.14 has no RPC, because it is built without TensorPipe.
bool torch_has_rpc();

#define NEEDS_RPC() \
  NEEDS_TORCH(1);   \
  if (!torch_has_rpc()) GTEST_SKIP() << "the PyTorch of " << torch_python() << " has no RPC: make test-torch"

enum class Launch {
  kAlone,
  kTwoRanks,   // two processes with torchrun's variables
  kFourRanks,  // four
  kTorchrun    // two ranks of torchrun if it works, otherwise as kTwoRanks. It imports PyTorch for itself: seconds
};

/// `command` is a script of tests/apps_torch with arguments. `keys` is added to PROFSHIM_SET. Traces go to
/// scratch / "traces".
Job torch_job(const ScratchFolder& scratch, Launch launch, const std::string& command, const std::string& keys = "");

/// Before its first step, PyTorch 2 imports its compiler, which takes half of the time of a short job. Returns `job`
/// without that, for tests that look at something else.
Job without_compiler(Job job);

/// One rank that runs the lines of `script`, without single quotes. Traces go where `spec` says, from the scratch
/// folder.
Job torch_lines(const ScratchFolder& scratch, const std::string& script, const std::string& spec);

/// Returns operator counts that operator_counts.py wrote.
std::map<std::string, int> torchs_counts(const std::string& path, int rank);
/// Returns "name: ours, theirs" for each difference. Ignores steps, and gloo's events, of which torch.profiler
/// may miss the last.
std::string differences(const SeenTrace& trace, const std::map<std::string, int>& theirs);

int calls_in_step(const SeenTrace& trace, std::int64_t number, const std::string& name);

/// Expects steps 11 to 13 without gaps, each with one optimizer call and no operator after that call.
void expect_whole_steps(const SeenTrace& trace, const std::string& optimizer);

}  // namespace profshim::e2e
