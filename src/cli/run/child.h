// A command run in the place of this program: same terminal, same signals, same end.
#pragma once

namespace profshim::cli {

/// Runs argv[0] (null-terminated list) and waits. SIGINT, SIGTERM and the like that somebody sends to this process go
/// on to the child; those of the terminal reach both anyway. Returns what waitpid said.
int run_child(char** argv);

/// Ends this process as the child ended: same exit status, or killed by the same signal.
int end_like(int wait_status);

}  // namespace profshim::cli
