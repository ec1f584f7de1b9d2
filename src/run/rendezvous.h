// Ranks that were started apart (on several hosts, in two terminals) agree on one run name by a file beside the run
// folders.
#pragma once

#include <string>

#include "profshim/run/run_folder.h"

namespace profshim::run {

struct Rendezvous {
  std::string run_name;
  std::string file;  // "" = no file could be made
};
/// Returns the name that another rank of this launch has chosen, else `own_name`. `pattern`: absolute, with {run_name}.
Rendezvous meet(const std::string& pattern, NameValues names, const JobIdentity& job, const std::string& own_name);

}  // namespace profshim::run
