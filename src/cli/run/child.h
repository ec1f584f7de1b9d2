#pragma once

namespace profshim::cli {

/// Forwards signals to the child. Returns the status of waitpid. Throws std::runtime_error.
int run_child(char** argv);

/// Returns the child's exit status, or dies of the signal that killed the child.
int exit_like(int wait_status);

}  // namespace profshim::cli
