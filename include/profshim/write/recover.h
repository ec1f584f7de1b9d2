// Writes traces from the spools of dead processes, for `profshim recover`, `profshim run`, and the writer thread.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "profshim/base/files.h"
#include "profshim/run/manifest.h"

namespace profshim::write {

/// One written trace, or one problem.
struct RecoverNote {
  std::string spool;         // path of the spool or folder, or as the user typed it
  int rank = -1;             // -1 = unknown
  std::int64_t window = -1;  // -1 = not about one window
  std::string file;          // trace; "" = none
  std::string text;
  bool running = false;          // the process is alive
  bool is_of_other_run = false;  // the spool is of a run that the folder does not hold
};

enum class RecoverOutcome : std::uint8_t {
  kRecovered,
  kNothing,  // no window had events
  kRunning,
  kElsewhere,  // another process recovers the spool, or the spool is gone
  kForeign,    // of another user or folder, or no regular file
  kNoFolder,   // the run folder is gone, or holds another run
  kFailed
};

struct RecoverOptions {
  int gzip_threads = 0;
  /// > 0: copies spools up to this size into memory and skips larger ones, since a mapping can raise SIGBUS if the file
  /// system is full.
  std::uint64_t most_copied = 0;
  /// Absolute path of a folder, which is made; "" = the folder that the spool names. Only for recover_spool().
  std::string into = {};
  /// Spools of processes that began earlier are left (kElsewhere). Since the epoch.
  std::int64_t began_since_ns = 0;
  std::function<bool()> give_up;  // called repeatedly; true = leave the spool as it is
  /// Called for each window, for the manifest that this process is writing.
  std::function<void(const std::string& folder, int rank, const run::ManifestWindow&)> on_window;
};

/// Entries are opened through `fd`, because the path may be replaced.
struct OpenFolder {
  Descriptor fd;
  std::string path;  // absolute
  struct stat found {};
};
/// Follows links. Sets errno on failure.
OpenFolder open_run_folder(const std::string& path);
/// Sorted names that end in ".spool".
std::vector<std::string> spool_entries(const OpenFolder& folder);

/// Recovers the spool that an entry of the folder is or links to, then removes both. Both must belong to the effective
/// user; so must the folder, unless the spool names it. The folder must hold the run that made the spool.
RecoverOutcome recover_entry(const OpenFolder& folder, const std::string& name, const RecoverOptions& options,
                             std::vector<RecoverNote>& notes);

/// Recovers a spool into the folder that it names, if that still holds the run that made the spool. The spool must
/// belong to the effective user; so must the folder, or a link in it that leads to the spool.
RecoverOutcome recover_spool(const std::string& path, const RecoverOptions& options, std::vector<RecoverNote>& notes);

/// True if the spool's process is dead and the spool belongs to the effective user (root: to any user); false if
/// unknown.
bool is_left_behind(const std::string& spool_path);

/// run::RunFolder::id of the run that made the spool; "" = unknown.
std::string run_id_of_spool(const std::string& spool_path);

/// Returns at most `most` files "profshim-UID-*.spool" with our UID, and of our user.
std::vector<std::string> spools_named_as_ours(const std::string& folder, std::size_t most);

/// A spool of a dead process of ours whose run folder is gone, or holds another run.
struct LeftSpool {
  std::string path, folder, run_name, run_id;
  int rank = -1;
  std::uint64_t bytes = 0;
  std::int64_t last_sign_ns = 0;  // of life, since the epoch
};
std::vector<LeftSpool> spools_without_run(const std::string& folder, std::size_t most);

/// Removes spools whose process has shown no sign of life for a day, and the oldest if together they hold more than an
/// eighth of the file system: the user has probably thrown their runs away.
void remove_old_spools(const std::string& folder, std::vector<LeftSpool> spools, std::int64_t now_ns);

}  // namespace profshim::write
