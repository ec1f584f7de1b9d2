// Writes the traces of spools whose processes are dead: for `profshim recover`, for `profshim run`, and for a new
// process that cleans up after dead ones. Tool and writer thread only.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "profshim/base/safe_files.h"
#include "profshim/output/manifest.h"

namespace profshim::output {

/// One written trace, or one problem.
struct RecoverNote {
  std::string spool;         // the spool, the folder, or the path given by the user
  int rank = -1;             // -1 = not known
  std::int64_t window = -1;  // -1 = not about one window
  std::string file;          // the written trace; "" = none
  std::string text;          // one line for the user
  bool running = false;      // the process is alive: nothing is lost yet
};

enum class RecoverOutcome : std::uint8_t {
  kRecovered,
  kNothing,    // no window had events
  kRunning,    // the process is alive
  kElsewhere,  // another process recovers the spool, or it does not exist anymore
  kForeign,    // must not be touched: not a spool, of another user, or of another folder
  kFailed
};

struct RecoverOptions {
  int gzip_threads = 0;
  /// > 0: reads spools of up to this many bytes into memory and skips larger ones. A mapping could end the process with
  /// SIGBUS if the file system is full.
  std::uint64_t most_copied = 0;
  /// Removes a spool whose folder does not exist anymore, if its process ran in this container.
  bool remove_orphans = false;
  std::function<bool()> give_up;  // called from time to time; true = stop and leave the spool as it is
  /// Called for every window, for a manifest that the current process is writing.
  std::function<void(const std::string& folder, int rank, const ManifestWindow&)> on_window;
};

/// An open run folder. Entries are reached through the descriptor, even if the path is replaced meanwhile.
struct OpenFolder {
  Descriptor fd;
  std::string path;  // absolute
  struct stat found {};
};
/// Opens a folder that the user has named; follows links. On failure `fd` is -1 and errno is set.
OpenFolder open_run_folder(const std::string& path);
/// Returns the names in the folder that end in ".spool", sorted.
std::vector<std::string> spool_entries(const OpenFolder& folder);

/// Recovers the spool that the entry `name` of a run folder is or links to, then removes the entry and the spool. Entry
/// and spool must belong to the effective user. So must the folder, or else the spool must name this folder. Adds
/// notes.
RecoverOutcome recover_entry(const OpenFolder& folder, const std::string& name, const RecoverOptions& options,
                             std::vector<RecoverNote>& notes);

/// Recovers the spool at `path` into the folder that the spool names. The spool must belong to the effective user. So
/// must the folder, or a link in it that leads to the spool.
RecoverOutcome recover_spool(const std::string& path, const RecoverOptions& options, std::vector<RecoverNote>& notes);

/// Returns true if the process of this spool is dead and the spool belongs to the effective user (root: to any user).
/// Returns false if that is not known.
bool is_left_behind(const std::string& spool_path);

/// Returns at most `most` files in `folder` with the name of our user's spools, "profshim-UID-*.spool". Files of other
/// users are counted in `foreign` and not returned.
std::vector<std::string> spools_named_as_ours(const std::string& folder, std::size_t most, std::size_t& foreign);

}  // namespace profshim::output
