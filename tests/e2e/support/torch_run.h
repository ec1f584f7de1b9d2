// Runs PyTorch programs of tests/apps_torch. One suite for every PyTorch: with Debian's in `make test`, with one of
// PyPI's in `make test-torch`.
#pragma once

#include <gtest/gtest.h>

#include <map>
#include <string>

#include "run_under_shim.h"
#include "scratch_folder.h"
#include "seen_trace.h"

namespace profshim::e2e {

/// The interpreter: PROFSHIM_TEST_PYTHON, else Debian's. Read here alone.
const std::string& torch_python();
/// Of its PyTorch, the number before the first dot; 0 without one.
int torch_major();
std::string torch_app(const std::string& name);

#define NEEDS_TORCH(major)                                                     \
  if (torch_major() < (major))                                                 \
  GTEST_SKIP() << "no PyTorch " << (major) << " in " << torch_python() << ": " \
               << ((major) > 1 ? "make test-torch" : "apt install python3-torch")

/// Debian's 2.14 was built without TensorPipe.
bool torch_has_rpc();

#define NEEDS_RPC() \
  NEEDS_TORCH(1);   \
  if (!torch_has_rpc()) GTEST_SKIP() << "the PyTorch of " << torch_python() << " has no RPC: make test-torch"

enum class Launch {
  kAlone,     // a program without a launcher
  kTwoRanks,  // torchrun; Debian's does not start with its Python: there two processes with the variables it sets
  kByHand,    // always the latter
  kFourRanks  // likewise, four of them
};

/// `command` is a script of tests/apps_torch with its arguments. Its traces come to scratch / "traces", plain; the keys
/// of `keys` are set besides. MASTER_ADDR and MASTER_PORT are set, the port is of this job alone.
Job torch_job(const ScratchFolder& scratch, Launch launch, const std::string& command, const std::string& keys = "");

/// What operator_counts.py wrote, for a script with --counts PATH.
std::map<std::string, int> torchs_counts(const std::string& path, int rank);
/// "name: ours, theirs" for each operator and range that is not as often in the trace as in torch.profiler's counts.
/// Not gloo's own: torch.profiler lacks the last one when gloo's thread has not come to its end yet.
std::string differences(const SeenTrace& trace, const std::map<std::string, int>& theirs);

/// Calls of `name` that lie in step `number` from begin to end.
int calls_in_step(const SeenTrace& trace, std::int64_t number, const std::string& name);

/// Steps 11 to 13 follow each other without a gap, each with one call of the optimizer, by whose end it ends.
void expect_whole_steps(const SeenTrace& trace, const std::string& optimizer);

}  // namespace profshim::e2e
