// manifest-rankN.json: what one rank has written and what state it is in. Written by the session and by recover, read
// by the tool. Tool and writer thread only.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "profshim/base/rank.h"

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
/// Atomically replaces FOLDER/manifest-rankN.json. `folder_fd` >= 0 stands for the folder, whatever lies at its path.
bool write_manifest(const std::string& folder, const Manifest& manifest, int folder_fd = -1);
/// All manifest-rank*.json of a folder; unreadable ones come back with state "unreadable: ...".
std::vector<Manifest> read_manifests(const std::string& folder);

/// The text of a manifest file, and the reverse; false when `text` is not a manifest. Paths that lead out of its folder
/// come back as "".
std::string manifest_text(const Manifest& manifest);
bool parse_manifest(std::string_view text, Manifest& manifest);
/// One file, relative to `folder_fd` where that is >= 0; false when it is not a manifest: no regular file, or a large
/// one.
bool read_manifest(const std::string& path, Manifest& manifest, int folder_fd = -1);

}  // namespace profshim::output
