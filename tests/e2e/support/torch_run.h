// Runs PyTorch programs of tests/apps_torch. `make test` uses Debian's PyTorch, `make test-torch`
// one of PyPI.
#pragma once

#include <gtest/gtest.h>

#include <map>
#include <string>

#include "run_under_shim.h"
#include "scratch_folder.h"
#include "seen_trace.h"

namespace profshim::e2e {

/// Returns the Python interpreter: PROFSHIM_TEST_PYTHON, otherwise Debian's.
const std::string& torch_python();
/// Returns the major version of its PyTorch, 0 if it has none.
int torch_major();
std::string torch_app(const std::string& name);

#define NEEDS_TORCH(major)                                                     \
  if (torch_major() < (major))                                                 \
  GTEST_SKIP() << "no PyTorch " << (major) << " in " << torch_python() << ": " \
               << ((major) > 1 ? "make test-torch" : "apt install python3-torch")

/// Returns true if this PyTorch has TensorPipe. Debian's 2.14 was built without it.
bool torch_has_rpc();

#define NEEDS_RPC() \
  NEEDS_TORCH(1);   \
  if (!torch_has_rpc()) GTEST_SKIP() << "the PyTorch of " << torch_python() << " has no RPC: make test-torch"

enum class Launch {
  kAlone,     // a program without a launcher
  kTwoRanks,  // torchrun; Debian's cannot run with its Python, so there kByHand is used
  kByHand,    // two processes with the variables that torchrun sets
  kFourRanks  // the same with four processes
};

/// Makes a job from a script of tests/apps_torch with its arguments. It writes uncompressed traces to
/// scratch / "traces". `keys` is added to PROFSHIM_SET. MASTER_ADDR and a MASTER_PORT that only this job uses are set.
Job torch_job(const ScratchFolder& scratch, Launch launch, const std::string& command, const std::string& keys = "");

/// Reads the counts that operator_counts.py wrote for a script with --counts PATH.
std::map<std::string, int> torchs_counts(const std::string& path, int rank);
/// Returns "name: ours, theirs" for each operator and range whose count differs between the trace and torch.profiler.
/// Excludes gloo's own events: torch.profiler lacks the last one if gloo's thread has not finished yet.
std::string differences(const SeenTrace& trace, const std::map<std::string, int>& theirs);

/// Returns the number of calls of `name` that lie entirely in step `number`.
int calls_in_step(const SeenTrace& trace, std::int64_t number, const std::string& name);

/// Expects steps 11 to 13 without gaps. Each holds one call of the optimizer and ends with it.
void expect_whole_steps(const SeenTrace& trace, const std::string& optimizer);

}  // namespace profshim::e2e
