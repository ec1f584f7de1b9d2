// profshim recover: traces out of the spools of processes that did not come to write them.
#include "recover.h"

#include <dirent.h>
#include <sys/stat.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <thread>

#include "command.h"
#include "profshim/output.h"
#include "profshim/publish.h"
#include "profshim/spec.h"
#include "profshim/spool.h"
#include "spec_options.h"

namespace profshim::cli {
namespace {

enum class Outcome : std::uint8_t { kRecovered, kNothing, kRunning, kFailed };

std::string own_host() {
  char host[256] = {};
  gethostname(host, sizeof host - 1);
  return host;
}

/// A manifest that goes on where the process stopped.
output::Manifest manifest_of(const spool::View& view, const std::string& folder, const Spec& spec) {
  const spool::SpoolHeader& h = view.header();
  output::Manifest manifest;
  if (!output::read_manifest(folder + "/manifest-rank" + std::to_string(h.rank) + ".json", manifest)) {
    manifest.rank.rank = h.rank;
    manifest.rank.world_size = h.world_size;
    manifest.rank.host = view.string(h.host);
    manifest.pid = h.pid;
    manifest.run_name = view.string(h.run_name);
    manifest.spec_hash = spec.hash();
    manifest.step_source = view.string(h.step_source);
  }
  manifest.steps_seen = static_cast<std::int64_t>(h.steps_seen.load());
  return manifest;
}

class Recovery {
 public:
  Recovery(const spool::View& view, std::string folder, std::vector<std::string>& lines)
      : view_(view), folder_(std::move(folder)), lines_(lines) {
    // The spec was valid when the job began; overrides are in it already.
    spec_ = load_spec_text(view.string(view.header().spec, spool::kMaxText), "spool").spec;
    spec_.limits.disk_free = 0;  // the user asked for the file
    manifest_ = manifest_of(view, folder_, spec_);
  }

  Outcome run() {
    const std::uint64_t opened = view_.header().windows.load(std::memory_order_acquire);
    for (std::uint64_t n = opened > spool::kMaxWindows ? opened - spool::kMaxWindows : 0; n < opened; ++n) {
      const spool::WindowState state = view_.window(n).state.load(std::memory_order_acquire);
      if (state == spool::WindowState::kOpen || state == spool::WindowState::kClosed) publish(n);
    }
    manifest_.state = failed_ ? "recovered in part" : "recovered";
    manifest_.spool = failed_ ? manifest_.spool : std::string();
    manifest_.updated_ns = realtime_ns();
    if (!output::write_manifest(folder_, manifest_)) failed_ = true;
    if (failed_) return Outcome::kFailed;
    return written_ > 0 ? Outcome::kRecovered : Outcome::kNothing;
  }

 private:
  void publish(std::uint64_t number) {
    output::PublishOptions options;
    options.folder = folder_;
    options.recovered = true;
    options.gzip_threads = static_cast<int>(std::min(4u, std::thread::hardware_concurrency()));
    const output::ManifestWindow result = output::publish_window(view_, number, spec_, options);
    manifest_.windows.push_back(result);
    const std::string who = "rank " + std::to_string(view_.header().rank) + ", window " + std::to_string(number);
    if (result.status == "written") {
      ++written_;
      lines_.push_back(who + ": " + folder_ + "/" + result.file + " (" + std::to_string(result.events) + " events" +
                       (result.complete ? ")" : ", incomplete)"));
    } else if (result.status != "empty") {
      failed_ = true;
      lines_.push_back(who + ": " + result.status);
    }
  }

  const spool::View& view_;
  std::string folder_;
  std::vector<std::string>& lines_;
  Spec spec_;
  output::Manifest manifest_;
  std::uint64_t written_ = 0;
  bool failed_ = false;
};

Outcome recover_spool(const std::string& path, const std::string& folder, std::vector<std::string>& lines) {
  std::string why_not;
  const std::unique_ptr<spool::View> view = spool::View::open(path, why_not);
  if (view == nullptr) {
    lines.push_back(path + ": " + why_not);
    return Outcome::kFailed;
  }
  const spool::SpoolHeader& h = view->header();
  const std::string host(view->string(h.host));
  if (host == own_host() && h.pid_start_time != 0 && process_start_time(h.pid) == h.pid_start_time) {
    lines.push_back("rank " + std::to_string(h.rank) + ": process " + std::to_string(h.pid) + " is still running");
    return Outcome::kRunning;
  }
  const std::string into = folder.empty() ? std::string(view->string(h.folder)) : folder;
  const Outcome outcome = Recovery(*view, into, lines).run();
  if (outcome == Outcome::kFailed) return outcome;
  unlink(path.c_str());
  output::release_claim(into, h.rank);
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

std::string target_of(const std::string& link) {
  char target[4096];
  const ssize_t n = readlink(link.c_str(), target, sizeof target - 1);
  return n < 0 ? link : std::string(target, static_cast<std::size_t>(n));
}

bool is_folder(const std::string& path) {
  struct stat s {};
  return stat(path.c_str(), &s) == 0 && S_ISDIR(s.st_mode);
}

struct RecoverOptions {
  std::vector<std::string> paths;
  bool quiet = false;
};

int recover(int argc, char** argv) {
  RecoverOptions options;
  CLI::App app(
      "Makes traces of what a job had recorded when it was killed. FOLDER is the run's folder; a spool file itself "
      "works as well.",
      "profshim recover");
  app.add_option("FOLDER", options.paths, "run folders or spool files")->required();
  app.add_flag("--quiet", options.quiet, "print only what was recovered or failed");
  app.footer(
      "Example:\n  profshim recover ./profshim/heat-20261121-101502-4711\n\n"
      "Exit status: 0 all recovered, 1 something could not be, 2 no such folder.");
  int status = kFine;
  if (!parse_arguments(app, argc, argv, status)) return status;
  for (const std::string& path : options.paths) {
    std::vector<std::string> lines;
    if (is_folder(path)) {
      status = std::max(status, recover_folder(absolute_path(path), options.quiet, lines));
    } else if (access(path.c_str(), R_OK) != 0) {
      lines.push_back(path + ": " + std::strerror(errno));
      status = kInvalid;
    } else if (recover_spool(path, "", lines) == Outcome::kFailed) {
      status = std::max(status, kFound);
    }
    for (const std::string& line : lines) std::printf("%s\n", line.c_str());
  }
  return status;
}

}  // namespace

int recover_folder(const std::string& folder, bool quiet, std::vector<std::string>& lines) {
  int error = 0;
  const std::vector<std::string> entries = spool_entries(folder, error);
  if (error != 0) {
    lines.push_back(folder + ": " + std::strerror(error));
    return kInvalid;
  }
  int status = kFine;
  for (const std::string& entry : entries) {
    const std::string target = target_of(entry);
    if (access(target.c_str(), F_OK) != 0) {
      lines.push_back(entry + ": its spool " + target + " is gone (another host, or it was restarted)");
      status = kFound;
      continue;
    }
    const Outcome outcome = recover_spool(target, folder, lines);
    if (outcome == Outcome::kFailed || outcome == Outcome::kRunning) status = kFound;
    if (outcome == Outcome::kRecovered || outcome == Outcome::kNothing) unlink(entry.c_str());
    if (outcome == Outcome::kNothing && !quiet) lines.push_back(entry + ": no window was open, nothing to recover");
  }
  if (entries.empty() && !quiet) lines.push_back(folder + ": no spools, nothing to recover");
  return status;
}

extern const Command kRecover;
const Command kRecover = {"recover", "makes traces out of the spool files of a killed job", recover};

}  // namespace profshim::cli
