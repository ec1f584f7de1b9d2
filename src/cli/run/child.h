// Runs a command as a child with this process's terminal, signals and exit status.
#pragma once

namespace profshim::cli {

/// Forwards signals sent to this process. Returns the status of waitpid. Throws std::runtime_error.
int run_child(char** argv);

/// Returns the child's exit status, or dies of the signal that killed it.
int exit_like(int wait_status);

}  // namespace profshim::cli
