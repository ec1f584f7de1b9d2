// manifest-rankN.json tells the state and files of one rank. The writer thread and `profshim recover` write it.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "profshim/base/rank.h"
#include "profshim/spool/losses.h"

namespace profshim::spool {
class View;
struct SpoolHeader;
}  // namespace profshim::spool

namespace profshim::run {

struct ManifestWindow {
  std::int64_t window = 0, first_step = 0, last_step = -1;
  std::string file;  // relative to the manifest's folder; "" = not written
  std::uint64_t bytes = 0, events = 0, dropped = 0;
  std::string status;  // "written", "failed: ...", "empty"
  bool complete = true, truncated = false, recovered = false;
  std::vector<std::string> missing = {};  // see missing_in() (profshim/trace/completeness.h)
  std::string phase = {};                 // "" = a window of steps
  std::int64_t occurrence = 0;            // of the phase
  std::string stacks = {};                // file of call stacks (output.export), or "failed: ..."; "" = none
  /// Files of the table of key_averages(), or "failed: ..."; empty = none.
  std::vector<std::string> tables = {};
  std::string memory_page = {};                // file of memory_timeline, or "failed: ..."; "" = none
  std::string summary = {};                    // "failed: ..." if the window is not in summary-rank{rank}.json
  bool awaits_finish = false;                  // finish.after = "window": the command has not had its files yet
  std::vector<std::string> other_losses = {};  // see WindowSummary; not in the file
  bool is_earlier = false;                     // of an earlier process of this rank; not in the file
  int attempt = 0;                             // of torchrun, which starts all ranks again (--max-restarts)
};
bool has_failed(const ManifestWindow& window);
/// Returns the names of the files of a written window: its trace first.
std::vector<std::string> files_of(const ManifestWindow& window);
/// Windows that the schedule asked for. asked = the sum of the others.
struct WindowCounts {
  std::uint64_t asked = 0;
  std::uint64_t written = 0;    // as traces; output.num_traces_to_keep and keep_bytes may have removed them since
  std::uint64_t waiting = 0;    // open, or not written yet
  std::uint64_t empty = 0;      // without events to show
  std::uint64_t discarded = 0;  // by schedule.on_exit = "discard"
  std::uint64_t failed = 0;
  std::array<std::uint64_t, kLostWindowReasons> lost{};  // by LostWindow
  std::uint64_t incomplete = 0;                          // of `written`

  /// Counts a window that the writer is done with.
  void add(const ManifestWindow& window);
  /// Sets `asked`, `waiting` and `lost`.
  void update(const spool::SpoolHeader& header);
  std::uint64_t all_lost() const;
  /// Returns "9613 of 12000 windows written; 2387 lost because the writer was behind"; "" if none was lost or failed.
  /// `is_over`: the job has ended, so that windows that wait are lost, too.
  std::string loss_text(bool is_over = false) const;
};
struct Manifest {
  Rank rank;
  int pid = 0;
  std::string run_name, run_id, role, state, spec_hash, step_source,
      spool;  // state: skip, warmup, active, finished, recovered, "recovered in part"
  std::int64_t steps_seen = 0, updated_ns = 0;
  std::int64_t removed_traces = 0;  // by output.num_traces_to_keep and output.keep_bytes
  std::string finish;               // of finish.command: "running", "succeeded", "failed: ..."; "" = has not run
  WindowCounts counts;
  std::vector<ManifestWindow> windows;
  std::vector<std::string> problems;
  std::string path;
};
/// Returns the manifest of a spool before its first window, without the rank's role, the run's id and the spec's hash.
Manifest first_manifest(const spool::View& view);
/// True if the rank, or `profshim recover` for it, has written its last file.
bool has_last_file(const Manifest& manifest);
/// Atomically replaces FOLDER/manifest-rankN.json. `folder_fd` >= 0 is used instead of the path.
bool write_manifest(const std::string& folder, const Manifest& manifest, int folder_fd = -1);
/// Returns all manifest-rank*.json but those of an earlier run; an unreadable one has the state "unreadable: ...".
std::vector<Manifest> read_manifests(const std::string& folder);
/// Their paths are names in the folder.
std::vector<Manifest> read_manifests_in(int folder_fd);

std::string manifest_text(const Manifest& manifest);
/// Paths that leave the folder become "".
bool parse_manifest(std::string_view text, Manifest& manifest);
/// A relative path starts at `folder_fd` if >= 0. Returns false if the file is not regular, too large, or no manifest.
bool read_manifest(const std::string& path, Manifest& manifest, int folder_fd = -1);

// Ranks of one host that still write their traces: finish.ranks may choose one rank of a node for all.

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
