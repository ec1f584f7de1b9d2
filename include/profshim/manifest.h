// manifest-rankN.json: what one rank has written and what state it is in. Written by the session and by recover, read
// by the tool. Tool and writer thread only.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "profshim/base.h"

namespace profshim::output {

/// One window in a manifest.
struct ManifestWindow {
  std::int64_t window = 0, first_step = 0, last_step = -1;
  std::string file;  // relative to the folder; "" = not written
  std::uint64_t bytes = 0, events = 0, dropped = 0;
  std::string status;  // "written", "failed: ...", "dropped: ...", "empty"
  bool complete = true, truncated = false, recovered = false;
  std::string stacks = {};  // of output.export: as `file`, or "failed: ..."; "" = there were none or none were wanted
};
struct Manifest {
  Rank rank;
  int pid = 0;
  std::string run_name, state, spec_hash, step_source, spool;  // state: skip, warmup, active, save, finished, recovered
  std::int64_t steps_seen = 0, updated_ns = 0;
  std::vector<ManifestWindow> windows;
  std::vector<std::string> problems;
  std::string path;  // where it was read from
};
/// Atomically replaces FOLDER/manifest-rankN.json.
bool write_manifest(const std::string& folder, const Manifest& manifest);
/// All manifest-rank*.json of a folder; unreadable ones come back with state "unreadable: ...".
std::vector<Manifest> read_manifests(const std::string& folder);

/// One file; false when it is not a manifest.
bool read_manifest(const std::string& path, Manifest& manifest);

}  // namespace profshim::output
