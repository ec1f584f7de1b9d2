// Traces out of the spools of processes that are gone: for `profshim recover`, `profshim run`, and for a process that
// tidies up after dead ones at its start. Tool and writer thread only.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "profshim/base/safe_files.h"
#include "profshim/output/manifest.h"

namespace profshim::output {

/// One file that was made, or one thing that could not be.
struct RecoverNote {
  std::string spool;         // or the folder, or what was named
  int rank = -1;             // -1 = not known
  std::int64_t window = -1;  // -1 = none in particular
  std::string file;          // "" = none was made
  std::string text;          // one line for people
  bool running = false;      // its process lives: nothing is lost yet
};

enum class RecoverOutcome : std::uint8_t {
  kRecovered,
  kNothing,    // no window held anything
  kRunning,    // its process lives
  kElsewhere,  // another one recovers it, or it is gone
  kForeign,    // not ours to touch
  kFailed
};

struct RecoverOptions {
  int gzip_threads = 0;
  /// > 0: the spool is read into memory instead of being mapped, where a file system that is full could end the process
  /// with SIGBUS, and a larger one is left alone.
  std::uint64_t most_copied = 0;
  /// A spool whose folder is gone is removed, where its process was one of this container.
  bool remove_orphans = false;
  std::function<bool()> give_up;  // asked now and then: true = stop, and leave the spool as it is
  /// Told of every window, for a manifest that its own process is writing.
  std::function<void(const std::string& folder, int rank, const ManifestWindow&)> on_window;
};

/// A run's folder that is open: entries are reached through the descriptor, whatever is put at its path meanwhile.
struct OpenFolder {
  Descriptor fd;
  std::string path;  // absolute
  struct stat found {};
};
/// A folder that the user has named: links to it are followed. -1 in `fd` and errno when it is none.
OpenFolder open_run_folder(const std::string& path);
/// Names that end in ".spool", sorted.
std::vector<std::string> spool_entries(const OpenFolder& folder);

/// Recovers the spool that the entry `name` of a run's folder is or leads to, and removes both afterwards. Link, folder
/// and spool must have one owner, who is us (or the spool must be ours and name this folder). Adds notes.
RecoverOutcome recover_entry(const OpenFolder& folder, const std::string& name, const RecoverOptions& options,
                             std::vector<RecoverNote>& notes);

/// Recovers a spool that is named itself, into the folder that it names. It must be ours, and so must the folder or a
/// link in it that leads to the spool.
RecoverOutcome recover_spool(const std::string& path, const RecoverOptions& options, std::vector<RecoverNote>& notes);

/// Is the process of this spool dead, and is the spool ours? False as well when that cannot be known.
bool is_left_behind(const std::string& spool_path);

/// Files in `folder` that are named as the spools of our user: "profshim-UID-*.spool", at most `most`. One that belongs
/// to another user is not among them, and counts in `foreign`.
std::vector<std::string> spools_named_as_ours(const std::string& folder, std::size_t most, std::size_t& foreign);

}  // namespace profshim::output
