// profshim recover: traces out of the spools of processes that did not come to write them.
#include "recover.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <thread>

#include "command.h"
#include "profshim/output.h"
#include "profshim/publish.h"
#include "profshim/spec.h"
#include "profshim/spool.h"
#include "profshim/trace.h"
#include "spec_options.h"

namespace profshim::cli {
namespace {

enum class Outcome : std::uint8_t { kRecovered, kNothing, kRunning, kElsewhere, kFailed };

std::string own_host() {
  char host[256] = {};
  gethostname(host, sizeof host - 1);
  return host;
}

/// Where a link leads; `link` itself when it is none.
std::string target_of(const std::string& link) {
  char target[4096];
  const ssize_t n = readlink(link.c_str(), target, sizeof target - 1);
  return n < 0 ? link : std::string(target, static_cast<std::size_t>(n));
}

/// The file that a path names, through links; "" when there is none.
std::string real_path(const std::string& path) {
  const std::unique_ptr<char, decltype(&std::free)> real(realpath(path.c_str(), nullptr), &std::free);
  return real == nullptr ? "" : real.get();
}

/// A process of this host, and the very one: numbers are given out again.
bool lives(const spool::SpoolHeader& h) {
  return h.pid_start_time != 0 && process_start_time(h.pid) == h.pid_start_time;
}

/// The collector takes an anchor every second for as long as the process lives: what can be known from another host.
constexpr std::int64_t kSilentFor_ns = 30'000'000'000;
std::int64_t last_sign_of_life_ns(const spool::View& view) {
  std::int64_t last = 0;
  for (const Anchor& anchor : view.anchors()) last = std::max(last, anchor.realtime_ns);
  return last;
}

/// The spool while it is being made into traces: under `mpirun profshim run`, the tools of all ranks come to recover at
/// the same moment.
class SpoolLock {
 public:
  explicit SpoolLock(const std::string& path) : fd_(open_high(path.c_str(), O_RDONLY)) {
    struct stat s {};
    if (fd_ < 0) {
      error_ = errno;
      return;
    }
    // Where the file system knows no locks, nobody else can have one.
    taken_ = flock(fd_, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK;
    taken_ = taken_ || (fstat(fd_, &s) == 0 && s.st_nlink == 0);
  }
  ~SpoolLock() {
    if (fd_ >= 0) close(fd_);
  }
  SpoolLock(const SpoolLock&) = delete;
  SpoolLock& operator=(const SpoolLock&) = delete;
  int error() const { return error_; }
  bool taken_by_another() const { return taken_; }

 private:
  int fd_, error_ = 0;
  bool taken_ = false;
};

class Recovery {
 public:
  Recovery(const spool::View& view, std::string folder, std::string spool, std::vector<RecoverNote>& notes)
      : view_(view), folder_(std::move(folder)), spool_(std::move(spool)), notes_(notes) {
    load_spec();
    load_manifest();
  }

  Outcome run() {
    const std::uint64_t opened = view_.header().windows.load(std::memory_order_acquire);
    for (std::uint64_t n = opened > spool::kMaxWindows ? opened - spool::kMaxWindows : 0; n < opened; ++n) {
      const spool::WindowState state = view_.window(n).state.load(std::memory_order_acquire);
      if (state != spool::WindowState::kOpen && state != spool::WindowState::kClosed) continue;
      if (!is_done(n)) publish(n);
    }
    save_manifest();
    if (failed_) return Outcome::kFailed;
    return written_ > 0 ? Outcome::kRecovered : Outcome::kNothing;
  }

 private:
  void load_spec() {
    // The spec was valid when the job began; overrides are in it already.
    const std::string text(view_.string(view_.header().spec, spool::kMaxText));
    LoadedSpec loaded = load_spec_text(text, "spool");
    if (!loaded.ok()) {
      // A folder may be named in bytes that are no UTF-8, which no TOML can hold. It is known here without the spec.
      std::string ascii = text;
      std::replace_if(
          ascii.begin(), ascii.end(), [](char c) { return static_cast<unsigned char>(c) >= 0x80; }, '_');
      loaded = load_spec_text(ascii, "spool");
    }
    if (!loaded.ok()) add(-1, "", "its spec cannot be read: the defaults are used");
    spec_ = loaded.spec;
    spec_.limits.disk_free = 0;  // the user asked for the file
  }

  /// A manifest that goes on where the process stopped.
  void load_manifest() {
    const spool::SpoolHeader& h = view_.header();
    const bool found = output::read_manifest(folder_ + "/manifest-rank" + std::to_string(h.rank) + ".json", manifest_);
    // A job that was queued again goes on in its folder: then the manifest is that of a later process.
    of_another_ = found && (manifest_.pid != h.pid || manifest_.rank.host != view_.string(h.host));
    if (!found) {
      manifest_.rank.rank = h.rank;
      manifest_.rank.world_size = h.world_size;
      manifest_.rank.host = view_.string(h.host);
      manifest_.pid = h.pid;
      manifest_.run_name = view_.string(h.run_name);
      manifest_.spec_hash = spec_.hash();
      manifest_.step_source = view_.string(h.step_source);
    }
    if (!of_another_) manifest_.steps_seen = static_cast<std::int64_t>(h.steps_seen.load());
  }

  void save_manifest() {
    // One that may still be written is left to its process.
    const bool ended = manifest_.state == "finished" || manifest_.state.starts_with("recovered");
    const bool gone = manifest_.rank.host == own_host() && process_start_time(manifest_.pid) == 0;
    if (of_another_ && !ended && !gone) return;
    if (!of_another_) {
      manifest_.state = failed_ ? "recovered in part" : "recovered";
      if (!failed_) manifest_.spool.clear();
    }
    manifest_.updated_ns = realtime_ns();
    if (output::write_manifest(folder_, manifest_)) return;
    failed_ = true;
    add(-1, "", "its manifest cannot be written into " + folder_);
  }

  /// Written by an earlier recover that could not do all.
  bool is_done(std::uint64_t number) const {
    return !of_another_ && std::any_of(manifest_.windows.begin(), manifest_.windows.end(), [&](const auto& w) {
      return w.window == static_cast<std::int64_t>(number) && w.recovered && w.status == "written" &&
             access((folder_ + "/" + w.file).c_str(), F_OK) == 0;
    });
  }

  void publish(std::uint64_t number) {
    output::PublishOptions options;
    options.folder = folder_;
    options.recovered = true;
    options.gzip_threads = static_cast<int>(std::min(4u, std::thread::hardware_concurrency()));
    const output::ManifestWindow result = output::publish_window(view_, number, spec_, options);
    if (!of_another_) {
      std::erase_if(manifest_.windows, [&](const auto& w) { return w.window == result.window && w.recovered; });
    }
    manifest_.windows.push_back(result);
    if (result.status == "written") {
      ++written_;
      add(result.window, folder_ + "/" + result.file,
          folder_ + "/" + result.file + " (" + std::to_string(result.events) + " events" +
              (result.complete ? ")" : ", incomplete)"));
    } else if (result.status != "empty") {
      failed_ = true;
      add(result.window, "", result.status);
    }
  }

  void add(std::int64_t window, const std::string& file, const std::string& what) {
    const int rank = view_.header().rank;
    notes_.push_back(
        {spool_, rank, window, file,
         "rank " + std::to_string(rank) + (window < 0 ? ": " : ", window " + std::to_string(window) + ": ") + what});
  }

  const spool::View& view_;
  const std::string folder_, spool_;
  std::vector<RecoverNote>& notes_;
  Spec spec_;
  output::Manifest manifest_;
  bool of_another_ = false;  // the manifest
  std::uint64_t written_ = 0;
  bool failed_ = false;
};

/// What a process left beside its traces: first what leads to the spool, so that nothing ever leads to nowhere.
void clean_up(const spool::SpoolHeader& h, const std::string& host, const std::string& folder,
              const std::string& spool) {
  const std::string link = folder + "/.rank" + std::to_string(h.rank) + "-" + std::to_string(h.pid) + ".spool";
  if (real_path(link) == spool) unlink(link.c_str());
  unlink(spool.c_str());
  output::release_claim_of(folder, h.rank, host, h.pid, h.pid_start_time);
}

/// `path`: the file itself, no link. `folder`: where the traces go; "" = where the process would have put them.
Outcome recover_spool(const std::string& path, const std::string& folder, std::vector<RecoverNote>& notes) {
  const SpoolLock lock(path);
  if (lock.error() == ENOENT || lock.taken_by_another()) return Outcome::kElsewhere;
  std::string why_not;
  const std::unique_ptr<spool::View> view = spool::View::open(path, why_not);
  if (view == nullptr) {
    notes.push_back({path, -1, -1, "", path + ": " + why_not});
    return Outcome::kFailed;
  }
  const spool::SpoolHeader& h = view->header();
  const std::string host(view->string(h.host));
  const std::string who = "rank " + std::to_string(h.rank) + ": process " + std::to_string(h.pid);
  if (host == own_host()) {
    if (lives(h)) {
      notes.push_back({path, h.rank, -1, "", who + " is still running", true});
      return Outcome::kRunning;
    }
  } else if (realtime_ns() - last_sign_of_life_ns(*view) < kSilentFor_ns) {
    notes.push_back({path, h.rank, -1, "",
                     who + " was still running on " + host + " a moment ago; recover there, or try again in a minute",
                     true});
    return Outcome::kRunning;
  }
  const std::string own_folder(view->string(h.folder));
  const std::string into = folder.empty() ? own_folder : folder;
  if (into.empty()) {
    notes.push_back(
        {path, h.rank, -1, "", path + ": it does not say into which folder; name the run's folder instead"});
    return Outcome::kFailed;
  }
  const Outcome outcome = Recovery(*view, into, path, notes).run();
  if (outcome == Outcome::kFailed) return outcome;
  clean_up(h, host, into, path);
  return outcome;
}

/// Links and spools in a folder: ".rank0-4711.spool" points to where the spool lies.
std::vector<std::string> spool_entries(const std::string& folder, int& error) {
  std::vector<std::string> found;
  DIR* const directory = opendir(folder.c_str());
  if (directory == nullptr) {
    error = errno;
    return found;
  }
  while (const dirent* const entry = readdir(directory)) {
    const std::string name = entry->d_name;
    if (name.ends_with(".spool")) found.push_back(folder + "/" + name);
  }
  closedir(directory);
  std::sort(found.begin(), found.end());
  return found;
}

bool is_folder(const std::string& path) {
  struct stat s {};
  return stat(path.c_str(), &s) == 0 && S_ISDIR(s.st_mode);
}

int recover_path(const std::string& path, bool quiet, std::vector<RecoverNote>& notes) {
  if (is_folder(path)) return recover_folder(absolute_path(path), quiet, notes);
  const std::string spool = real_path(path);
  // The link of a run's folder: that is where the traces go, wherever the folder was moved.
  struct stat s {};
  const bool is_link = lstat(path.c_str(), &s) == 0 && S_ISLNK(s.st_mode);
  const std::string whole = absolute_path(path);
  const std::string folder = is_link ? whole.substr(0, whole.rfind('/')) : "";
  if (spool.empty()) {
    notes.push_back({path, -1, -1, "", path + ": " + std::strerror(errno)});
    return kInvalid;
  }
  const Outcome outcome = recover_spool(spool, folder, notes);
  if (is_link && (outcome == Outcome::kRecovered || outcome == Outcome::kNothing)) unlink(path.c_str());
  switch (outcome) {
    case Outcome::kElsewhere:
      notes.push_back({path, -1, -1, "", path + ": another recover is at work on it"});
      return kFound;
    case Outcome::kNothing:
      if (!quiet) notes.push_back({path, -1, -1, "", path + ": no window was open, nothing to recover"});
      return kFine;
    case Outcome::kRecovered:
      return kFine;
    default:
      return kFound;
  }
}

void print_json(const std::vector<RecoverNote>& notes) {
  std::string text = "[";
  for (const RecoverNote& note : notes) {
    text += (text.size() > 1 ? ",\n {\"spool\": " : "{\"spool\": ") + json_string(note.spool);
    text += ", \"rank\": " + std::to_string(note.rank) + ", \"window\": " + std::to_string(note.window);
    text += ", \"file\": " + json_string(note.file) + ", \"message\": " + json_string(note.text) + "}";
  }
  std::printf("%s]\n", text.c_str());
}

struct RecoverOptions {
  std::vector<std::string> paths;
  bool quiet = false, json = false;
};

int recover(int argc, char** argv) {
  RecoverOptions options;
  CLI::App app(
      "Makes traces of what a job had recorded when it was killed. FOLDER is the run's folder; a spool file itself "
      "works as well.",
      "profshim recover");
  app.add_option("FOLDER", options.paths, "run folders or spool files")->required();
  app.add_flag("--quiet", options.quiet, "print only what was recovered or failed");
  app.add_flag("--json", options.json, "as JSON: a list of what was recovered and what could not be");
  app.footer(
      "Example:\n  profshim recover ./profshim/heat-20261121-101502-4711\n\n"
      "Exit status: 0 all recovered, 1 something could not be, 2 no such folder.");
  int status = kFine;
  if (!parse_arguments(app, argc, argv, status)) return status;
  std::vector<RecoverNote> all;
  for (const std::string& path : options.paths) {
    std::vector<RecoverNote> notes;
    status = std::max(status, recover_path(path, options.quiet, notes));
    if (!options.json) {
      for (const RecoverNote& note : notes) std::printf("%s\n", note.text.c_str());
    }
    std::move(notes.begin(), notes.end(), std::back_inserter(all));
  }
  if (options.json) print_json(all);
  return status;
}

}  // namespace

int recover_folder(const std::string& folder, bool quiet, std::vector<RecoverNote>& notes) {
  int error = 0;
  const std::vector<std::string> entries = spool_entries(folder, error);
  if (error != 0) {
    notes.push_back({folder, -1, -1, "", folder + ": " + std::strerror(error)});
    return kInvalid;
  }
  int status = kFine;
  const auto add = [&](const std::string& entry, const std::string& what) {
    notes.push_back({entry, -1, -1, "", entry + ": " + what});
  };
  for (const std::string& entry : entries) {
    const std::string spool = real_path(entry);
    if (spool.empty()) {
      // Whoever recovers takes the link away first: with a link, nobody has it in hand.
      struct stat link {};
      if (lstat(entry.c_str(), &link) != 0) continue;
      add(entry, "its spool " + target_of(entry) + " is gone (another host, or it was restarted)");
      status = kFound;
      continue;
    }
    const Outcome outcome = recover_spool(spool, folder, notes);
    if (outcome != Outcome::kRecovered && outcome != Outcome::kNothing) status = kFound;
    if (outcome == Outcome::kRecovered || outcome == Outcome::kNothing) unlink(entry.c_str());
    if (quiet) continue;
    if (outcome == Outcome::kNothing) add(entry, "no window was open, nothing to recover");
    if (outcome == Outcome::kElsewhere) add(entry, "another recover is at work on it");
  }
  if (entries.empty() && !quiet) notes.push_back({folder, -1, -1, "", folder + ": no spools, nothing to recover"});
  return status;
}

extern const Command kRecover;
const Command kRecover = {"recover", "makes traces out of the spool files of a killed job", recover};

}  // namespace profshim::cli
