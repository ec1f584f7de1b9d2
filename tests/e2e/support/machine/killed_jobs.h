// Jobs that are killed while they record, and the spools that they leave in memory.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "e2e/support/run_under_shim.h"
#include "e2e/support/scratch_folder.h"

namespace profshim::e2e {

/// Paths of the spools in /dev/shm.
std::vector<std::string> spools();
void remove_spools();

bool comes_true(const std::function<bool()>& condition, int most_seconds = 300);

/// True once a rank records a window into the folder. The first manifest is older than the window.
bool records(const std::string& folder);

/// An MPI program that makes a collective call every 0.5 ms until it is killed. With "return" in place of "forever", it
/// ends at once.
Job endless(const ScratchFolder& scratch, const std::string& folder, const std::string& spec);

/// Kills the job once `condition` holds. Fails the test after 30 s.
bool run_until(Job job, const std::function<bool()>& condition);

}  // namespace profshim::e2e
