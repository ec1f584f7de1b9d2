// Ranks of one host that still write their traces: finish.ranks may choose one rank of a node for all.
#pragma once

#include <string>
#include <vector>

#include "profshim/run/manifest.h"

namespace profshim::run {

/// The other ranks of a run folder whose processes live on the host of `own`. Not thread-safe.
class RanksOfHost {
 public:
  RanksOfHost(const std::string& folder, const Manifest& own);
  /// True while a process lives that has not written its last file. Reads the manifests of such processes; does not
  /// block otherwise.
  bool some_still_write();

 private:
  std::vector<std::string> writing_;  // paths of their manifests
};

}  // namespace profshim::run
