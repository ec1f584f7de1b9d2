// The example specs of tests/golden/good_specs and the jobs of tests/apps_examples that they are for.
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "e2e/support/run_under_shim.h"
#include "e2e/support/scratch_folder.h"
#include "e2e/support/seen_trace.h"

namespace profshim::e2e {

using Replacements = std::vector<std::pair<std::string, std::string>>;

/// Writes the example with the replacements, each of which must fit, and returns its path.
std::string write_example(const ScratchFolder& scratch, const std::string& name, const Replacements& replacements);

/// A rank of a group of processes.
struct Process {
  int rank = 0, ranks = 1, ranks_per_node = 1;
  std::string arguments;  // script of tests/apps_examples and its arguments
};
/// Starts the processes together from a shell, with the variables that torchrun sets.
Job python_job(const ScratchFolder& scratch, const std::string& spec, const std::vector<Process>& processes);

std::string fake_cuda_folder();

/// True if PyTorch loads a libcudart of its own, which fails without a driver.
bool torch_is_for_cuda();

#define NEEDS_TORCH_FOR_CPU() \
  NEEDS_TORCH(1);             \
  if (torch_is_for_cuda()) GTEST_SKIP() << torch_python() << " has a PyTorch for CUDA: make test uses Debian's"

/// Counts the device's kernels by name without arguments.
std::map<std::string, int> kernels_of(const SeenTrace& trace);

}  // namespace profshim::e2e
