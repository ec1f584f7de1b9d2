#pragma once

#include <string>
#include <vector>

#include "profshim/trace/reader.h"

namespace profshim::convert_detail {

inline void add_warnings(const std::string& path, const ReadResult& read, std::vector<std::string>& to) {
  for (const std::string& warning : read.warnings()) to.push_back(path + ": " + warning);
  if (read.damaged > 0) to.push_back(path + ": " + read.why_partial() + "; the other events are converted");
  if (read.damaged == 0 && read.truncated)
    to.push_back(path + ": cut off (" + read.error + "); the part before the cut is converted");
}

}  // namespace profshim::convert_detail
