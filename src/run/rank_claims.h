// A claim is a file that shows which process records a rank.
#pragma once

#include <string>

namespace profshim::run {

/// Describes a live process other than this one that records into the folder; "" = there is none.
std::string recording_into(int folder_fd);
/// True if a process records the rank into the folder, or has done so.
bool is_rank_recorded(int folder_fd, int rank);

}  // namespace profshim::run
