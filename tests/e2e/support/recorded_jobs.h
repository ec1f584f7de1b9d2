// MPI jobs that are recorded into the folder "traces" of a scratch folder.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "mpi_jobs.h"
#include "run_under_shim.h"
#include "scratch_folder.h"

namespace profshim::e2e {

/// Returns a job of the heat demo with `ranks` ranks, all recorded. `settings` is added to PROFSHIM_SET.
Job heat_job(const ScratchFolder& scratch, int ranks, int steps, const std::string& settings);
/// Returns a job of nvtx_epochs on one rank. `spec` must lack version and output.
Job epochs_job(const ScratchFolder& scratch, const std::vector<std::string>& arguments, const std::string& spec);
/// Returns a job that is recorded from start to end.
Job whole_run_job(const ScratchFolder& scratch, Mpi mpi, int ranks, const std::vector<std::string>& command);

/// Returns how many of the library's lines on stderr contain `text`.
std::size_t lines_with(const Outcome& outcome, const std::string& text);

}  // namespace profshim::e2e
