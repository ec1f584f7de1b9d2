// MPI jobs that write their traces to scratch / "traces".
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "mpi_jobs.h"
#include "run_under_shim.h"
#include "scratch_folder.h"

namespace profshim::e2e {

/// `settings` is added to PROFSHIM_SET.
Job heat_job(const ScratchFolder& scratch, int ranks, int steps, const std::string& settings);
/// Adds the keys version and output to `spec`.
Job epochs_job(const ScratchFolder& scratch, const std::vector<std::string>& arguments, const std::string& spec);
/// Runs tests/apps_nvtx/nvtx_phases. Adds the key version, and the keys output unless `spec` has them.
Job phases_job(const ScratchFolder& scratch, int ranks, const std::vector<std::string>& arguments,
               const std::string& spec);
Job whole_run_job(const ScratchFolder& scratch, Mpi mpi, int ranks, const std::vector<std::string>& command);

/// Python interpreters from 3.10 on; those that are on PATH count, too.
std::vector<std::string> pythons();

std::size_t lines_with(const Outcome& outcome, const std::string& text);

}  // namespace profshim::e2e
