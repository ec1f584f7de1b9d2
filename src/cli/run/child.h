// Runs a command as a child that looks like this process: same terminal, same signals, same exit status.
#pragma once

namespace profshim::cli {

/// Runs argv[0] (null-terminated list) and waits for it. Forwards SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1 and SIGUSR2
/// that are sent to this process; signals of the terminal reach both processes anyway. Returns the status of waitpid.
/// Throws std::runtime_error if fork or waitpid fails.
int run_child(char** argv);

/// Returns the child's exit status. If a signal killed the child, this process kills itself with the same signal.
int exit_like(int wait_status);

}  // namespace profshim::cli
