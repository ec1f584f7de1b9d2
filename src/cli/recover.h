// What `profshim recover` does, for `profshim run` too.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace profshim::cli {

/// One file that was made, or one thing that could not be.
struct RecoverNote {
  std::string spool;         // or the folder, or what was named
  int rank = -1;             // -1 = not known
  std::int64_t window = -1;  // -1 = none in particular
  std::string file;          // "" = none was made
  std::string text;          // one line for people
  bool running = false;      // its process lives: nothing is lost yet
};

/// Makes traces of the spools that dead processes left in `folder`. Adds a note per file or problem; with `quiet`, only
/// of what was recovered or failed. Returns an exit status of the tool; a folder without spools is fine.
int recover_folder(const std::string& folder, bool quiet, std::vector<RecoverNote>& notes);

}  // namespace profshim::cli
