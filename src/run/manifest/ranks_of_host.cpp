#include "profshim/run/ranks_of_host.h"

#include <signal.h>

#include <cerrno>

namespace profshim::run {
namespace {

bool is_alive(int pid) { return pid > 0 && (kill(pid, 0) == 0 || errno == EPERM); }

bool has_ended(const Manifest& manifest) { return has_last_file(manifest) || !is_alive(manifest.pid); }

}  // namespace

RanksOfHost::RanksOfHost(const std::string& folder, const Manifest& own) {
  for (const Manifest& manifest : read_manifests(folder)) {
    if (manifest.rank.host == own.rank.host && manifest.pid != own.pid && !has_ended(manifest))
      writing_.push_back(manifest.path);
  }
}

bool RanksOfHost::some_still_write() {
  while (!writing_.empty()) {
    Manifest manifest;
    // A manifest that cannot be read has no process.
    read_manifest(writing_.back(), manifest);
    if (!has_ended(manifest)) return true;
    writing_.pop_back();
  }
  return false;
}

}  // namespace profshim::run
