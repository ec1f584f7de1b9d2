#include "recover.h"

#include <fcntl.h>
#include <grp.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <map>
#include <thread>
#include <utility>
#include <vector>

#include "cli/arguments.h"
#include "cli/command.h"
#include "cli/spec/spec_options.h"
#include "profshim/analysis/groups.h"
#include "profshim/base/files.h"
#include "profshim/base/text/message_text.h"
#include "profshim/json/writer.h"
#include "profshim/write/recover.h"

namespace profshim::cli {

ActAsOwner::ActAsOwner(const struct stat& file) {
  if (geteuid() != 0 || file.st_uid == 0) return;
  changed_ = true;
  // The owner's umask is unknown: derive it from the folder's mode.
  umask_before_ = umask(0);
  umask(umask_before_ | (S_ISDIR(file.st_mode) ? ~file.st_mode & 0777 : 077));
  ok_ = setgroups(0, nullptr) == 0 && setegid(file.st_gid) == 0 && seteuid(file.st_uid) == 0;
}

ActAsOwner::~ActAsOwner() {
  if (!changed_) return;
  // Root's supplementary groups stay dropped: nothing needs them.
  if (seteuid(getuid()) == 0) (void)!setegid(getgid());
  umask(umask_before_);
}

namespace {

namespace fs = std::filesystem;
using write::OpenFolder;
using write::RecoverOutcome;

/// Settings of one run of the command.
struct Wishes {
  std::string into;  // --into, absolute; "" = the folders that the spools name
  bool quiet = false;
  std::int64_t began_since_ns = 0;
};

write::RecoverOptions options_of_tool(const Wishes& wishes) {
  write::RecoverOptions options;
  options.into = wishes.into;
  options.began_since_ns = wishes.began_since_ns;
  options.gzip_threads = static_cast<int>(std::min(4u, std::thread::hardware_concurrency()));
  return options;
}

bool is_done(RecoverOutcome outcome) {
  return outcome == RecoverOutcome::kRecovered || outcome == RecoverOutcome::kNothing;
}

std::string remark(RecoverOutcome outcome, bool quiet) {
  if (quiet) return {};
  if (outcome == RecoverOutcome::kNothing) return "nothing to recover: no window had unwritten events";
  if (outcome == RecoverOutcome::kElsewhere) return "another process recovers this file, or has removed it";
  return {};
}

RecoverOutcome recover_one(const OpenFolder& folder, const std::string& name, const Wishes& wishes,
                           std::vector<RecoverNote>& notes) {
  const RecoverOutcome outcome = write::recover_entry(folder, name, options_of_tool(wishes), notes);
  const std::string entry = folder.path + "/" + name;
  if (const std::string message = remark(outcome, wishes.quiet); !message.empty()) {
    notes.push_back({entry, -1, -1, "", entry + ": " + message});
  }
  return outcome;
}

int refuse(const std::string& path, const std::string& why, std::vector<RecoverNote>& notes) {
  notes.push_back({path, -1, -1, "", path + ": " + why});
  return kFailure;
}

int recover_file(const std::string& path, const Wishes& wishes, std::vector<RecoverNote>& notes) {
  struct stat file {};
  if (lstat(path.c_str(), &file) != 0) return refuse(path, error_text(errno), notes);
  std::string whole = absolute_path(path);
  if (S_ISLNK(file.st_mode) && !wishes.into.empty()) {
    std::error_code error;
    whole = fs::read_symlink(whole, error).string();
    if (error || lstat(whole.c_str(), &file) != 0) return refuse(path, "its spool does not exist on this host", notes);
  }
  if (S_ISLNK(file.st_mode)) {
    // `path` is a link in a run folder: traces go to that folder, even if the folder was moved.
    const std::size_t slash = whole.rfind('/');
    const OpenFolder folder = write::open_run_folder(whole.substr(0, slash + (slash == 0)));
    if (!folder.fd) return refuse(path, error_text(errno), notes);
    const ActAsOwner owner(folder.found);
    if (!owner.ok())
      return refuse(path, "root cannot act as the owner of the folder; run profshim recover as that user", notes);
    return is_done(recover_one(folder, whole.substr(slash + 1), wishes, notes)) ? kSuccess : kProblemsFound;
  }
  const ActAsOwner owner(file);
  if (!owner.ok())
    return refuse(path, "root cannot act as the owner of the file; run profshim recover as that user", notes);
  const RecoverOutcome outcome = write::recover_spool(whole, options_of_tool(wishes), notes);
  if (const std::string message = remark(outcome, wishes.quiet && outcome != RecoverOutcome::kElsewhere);
      !message.empty()) {
    notes.push_back({path, -1, -1, "", path + ": " + message});
  }
  return is_done(outcome) ? kSuccess : kProblemsFound;
}

/// Returns the folder, or the folders below it that have spools: groups of processes have run folders of their own.
std::vector<std::string> folders_with_spools(const std::string& path) {
  std::vector<std::string> folders;
  const OpenFolder folder = write::open_run_folder(path);
  if (!folder.fd || !write::spool_entries(folder).empty()) return {path};
  std::error_code error, none;
  for (fs::recursive_directory_iterator it(path, error); !error && it != fs::recursive_directory_iterator();
       it.increment(error)) {
    if (it->is_symlink(none) || !it->is_directory(none)) continue;
    const OpenFolder below = write::open_run_folder(it->path());
    if (below.fd && !write::spool_entries(below).empty()) folders.push_back(it->path());
  }
  if (folders.empty()) return {path};
  std::sort(folders.begin(), folders.end(), is_earlier_folder);
  return folders;
}

int recover_below(const std::string& path, const Wishes& wishes, std::vector<RecoverNote>& notes) {
  const OpenFolder folder = write::open_run_folder(path);
  if (!folder.fd) return refuse(path, error_text(errno), notes);
  const std::vector<std::string> entries = write::spool_entries(folder);
  if (entries.empty() && !wishes.quiet)
    notes.push_back({path, -1, -1, "", path + ": nothing to recover: no profshim buffer files (spools)"});
  int status = kSuccess;
  if (!wishes.into.empty()) {
    for (const std::string& entry : entries)
      status = std::max(status, recover_file(folder.path + "/" + entry, wishes, notes));
    return status;
  }
  const ActAsOwner owner(folder.found);
  if (!owner.ok())
    return refuse(path, "root cannot act as the owner of the folder; run profshim recover as that user", notes);
  for (const std::string& entry : entries) {
    if (!is_done(recover_one(folder, entry, wishes, notes))) status = kProblemsFound;
  }
  return status;
}

int recover_path(const std::string& path, const Wishes& wishes, std::vector<RecoverNote>& notes) {
  struct stat s {};
  if (stat(path.c_str(), &s) != 0 || !S_ISDIR(s.st_mode)) return recover_file(path, wishes, notes);
  int status = kSuccess;
  for (const std::string& folder : folders_with_spools(absolute_path(path)))
    status = std::max(status, recover_below(folder, wishes, notes));
  return status;
}

void print_json(const std::vector<RecoverNote>& notes) {
  JsonWriter json;
  json.open_list();
  for (const RecoverNote& note : notes) {
    json.line_unless_first(1).open_object().member("spool", note.spool).member("rank", note.rank);
    json.member("window", note.window).member("file", note.file).member("message", note.text).close_object();
  }
  std::puts(json.close_list().text().c_str());
}

struct RecoverOptions {
  std::vector<std::string> paths;
  Wishes wishes;
  bool json = false;
};

int recover(int argc, char** argv) {
  RecoverOptions options;
  Arguments arguments("recover",
                      "Writes the traces of a job that was killed, from the buffer files (spools) that profshim left.");
  arguments.add("FOLDER", options.paths, "Run folders, folders around them, or buffer files (spools)").required();
  arguments
      .add("--into", options.wishes.into,
           "Write the traces into this new folder: for a run whose own folder is gone, or holds another run")
      .shown_as("NEW_FOLDER");
  arguments.add("--quiet", options.wishes.quiet, "Print only recovered traces and failures");
  arguments.add("--json", options.json, "Print JSON: a list of recovered traces and failures");
  arguments.footer("Example:\n  profshim recover ./profshim/heat-20261121-101502-4711\n\n" + std::string(kExitStatus) +
                   "\nA problem is a buffer file (spool) that could not be recovered.");
  int status = kSuccess;
  if (!arguments.parse(argc, argv, status)) return status;
  if (!options.wishes.into.empty()) options.wishes.into = absolute_path(options.wishes.into);
  std::vector<RecoverNote> all;
  for (const std::string& path : options.paths) {
    std::vector<RecoverNote> notes;
    status = std::max(status, recover_path(path, options.wishes, notes));
    if (!options.json) {
      for (const RecoverNote& note : notes) std::printf("%s\n", printable(note.text).c_str());
    }
    std::move(notes.begin(), notes.end(), std::back_inserter(all));
  }
  if (options.json) print_json(all);
  return status;
}

}  // namespace

void recover_quietly(const std::string& folder, std::int64_t began_since_ns, std::vector<RecoverNote>& notes) {
  recover_below(folder, {.into = "", .quiet = true, .began_since_ns = began_since_ns}, notes);
  std::erase_if(notes, [](const RecoverNote& note) { return note.is_of_other_run; });
}

extern const Command kRecover;
const Command kRecover = {"recover", "write the traces of a killed job from its buffer files", recover};

namespace {

/// "profshim recover --into NEW_FOLDER FILE... (heat-4711, 18.5 MiB; its folder /out is gone)"
std::string recover_command(const std::vector<write::LeftSpool>& run) {
  std::uint64_t bytes = 0;
  std::string command = "profshim recover --into NEW_FOLDER";
  for (const write::LeftSpool& spool : run) {
    bytes += spool.bytes;
    command += " " + spool.path;
  }
  std::error_code error;
  const char* const why = fs::exists(run.front().folder, error) ? " holds another run" : " is gone";
  return command + "  (" + run.front().run_name + ", " + format_size(bytes) + "; its folder " + run.front().folder +
         why + ")";
}

}  // namespace

void print_left_runs(std::FILE* to, const std::set<std::string>& folders) {
  constexpr std::size_t kMostSpools = 4096;
  for (const std::string& folder : folders) {
    std::map<std::pair<std::string, std::string>, std::vector<write::LeftSpool>> left;  // by run id and folder
    for (write::LeftSpool& spool : write::spools_without_run(folder, kMostSpools))
      left[{spool.run_id, spool.folder}].push_back(std::move(spool));
    if (left.empty()) continue;
    std::fprintf(to, "%s in %s:%s", plural(left.size(), "unrecovered run").c_str(), printable(folder).c_str(),
                 left.size() == 1 ? " " : "\n");
    for (const auto& [key, run] : left)
      std::fprintf(to, "%s%s\n", left.size() == 1 ? "" : "  ", printable(recover_command(run)).c_str());
  }
}

}  // namespace profshim::cli
