#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <map>
#include <set>

#include "cli/arguments.h"
#include "cli/command.h"
#include "cli/spec/spec_options.h"
#include "profshim/analysis/groups.h"
#include "profshim/base/text/message_text.h"
#include "profshim/json/writer.h"
#include "profshim/run/manifest.h"
#include "profshim/run/run_folder.h"
#include "profshim/trace/completeness.h"
#include "profshim/write/finish_command.h"
#include "profshim/write/recover.h"
#include "recover.h"
#include "trace_files.h"

namespace profshim::cli {
namespace {

namespace fs = std::filesystem;
using run::Manifest;
using run::ManifestWindow;

struct Flag {
  int rank = -1;
  std::string message;
};

template <class Value>
Value commonest(const std::map<Value, int>& counts) {
  return std::max_element(counts.begin(), counts.end(),
                          [](const auto& a, const auto& b) { return a.second < b.second; })
      ->first;
}

bool readable(const Manifest& manifest) { return !manifest.state.starts_with("unreadable"); }

std::string steps_text(const ManifestWindow& window) {
  if (!window.phase.empty()) return window.phase + " " + std::to_string(window.occurrence);
  if (window.last_step < window.first_step) return "-";
  if (window.last_step == window.first_step) return std::to_string(window.first_step);
  return std::to_string(window.first_step) + "-" + std::to_string(window.last_step);
}

void flag_specs(const std::vector<Manifest>& manifests, std::vector<Flag>& flags) {
  std::map<std::string, int> hashes;
  for (const Manifest& m : manifests) {
    if (readable(m)) ++hashes[m.spec_hash];
  }
  if (hashes.size() < 2) return;
  const std::string usual = commonest(hashes);
  for (const Manifest& m : manifests) {
    if (!readable(m) || m.spec_hash == usual) continue;
    flags.push_back({m.rank.rank, "different spec: hash " + m.spec_hash + ", on most ranks " + usual});
  }
}

/// Returns the windows of steps. Ranks may number these differently if phases have windows, too.
std::vector<ManifestWindow> windows_of_steps(const Manifest& manifest) {
  std::vector<ManifestWindow> windows = manifest.windows;
  if (std::erase_if(windows, [](const ManifestWindow& w) { return !w.phase.empty(); }) == 0) return windows;
  std::sort(windows.begin(), windows.end(),
            [](const ManifestWindow& a, const ManifestWindow& b) { return a.window < b.window; });
  for (std::size_t i = 0; i < windows.size(); ++i) windows[i].window = static_cast<std::int64_t>(i);
  return windows;
}

void flag_steps(const std::vector<Manifest>& manifests, std::vector<Flag>& flags) {
  std::map<std::pair<int, std::int64_t>, std::map<std::string, int>> windows;  // by attempt and number
  for (const Manifest& m : manifests) {
    for (const ManifestWindow& w : windows_of_steps(m)) ++windows[{w.attempt, w.window}][steps_text(w)];
  }
  for (const auto& [key, steps] : windows) {
    if (steps.size() < 2) continue;
    const auto& [attempt, number] = key;
    const std::string usual = commonest(steps);
    for (const Manifest& m : manifests) {
      for (const ManifestWindow& w : windows_of_steps(m)) {
        if (w.window != number || w.attempt != attempt || steps_text(w) == usual) continue;
        flags.push_back({m.rank.rank, "window " + std::to_string(number) + " holds steps " + steps_text(w) +
                                          ", on most ranks " + usual});
      }
    }
  }
}

bool is_run_folder(const fs::path& folder) {
  std::error_code error;
  return fs::exists(folder / run::kIdentityFile, error);
}

/// True for a trace of a run whose folder lies inside this one: of children of a program that records.
bool is_of_run_inside(const std::string& folder, fs::path path) {
  for (path = path.parent_path(); path.string().size() > folder.size(); path = path.parent_path()) {
    if (is_run_folder(path)) return true;
  }
  return false;
}

void flag_files(const std::string& folder, const std::vector<Manifest>& manifests, std::vector<Flag>& flags) {
  std::set<std::string> named;
  for (const Manifest& m : manifests) {
    for (const ManifestWindow& w : m.windows) {
      if (run::has_failed(w)) flags.push_back({m.rank.rank, "window " + std::to_string(w.window) + " " + w.status});
      if (w.file.empty()) continue;
      const fs::path path = (fs::path(folder) / w.file).lexically_normal();
      named.insert(path.string());
      if (w.status != "written") continue;
      std::error_code error;
      const std::uintmax_t size = fs::file_size(path, error);
      if (error) {
        flags.push_back({m.rank.rank, w.file + " is missing"});
      } else if (size != w.bytes) {
        flags.push_back({m.rank.rank, w.file + " has " + std::to_string(size) + " bytes, but the manifest says " +
                                          std::to_string(w.bytes)});
      }
    }
  }
  std::vector<std::string> unread;
  for (const std::string& path : cli::traces_below(folder, unread)) {
    if (!named.contains(fs::path(path).lexically_normal().string()) && !is_of_run_inside(folder, path)) {
      flags.push_back({-1, path + " is in no manifest"});
    }
  }
  for (const std::string& line : unread) flags.push_back({-1, line});
}

void flag_finish(const std::string& folder, const std::vector<Manifest>& manifests, std::vector<Flag>& flags) {
  for (const Manifest& m : manifests) {
    if (!m.finish.starts_with("failed")) continue;
    flags.push_back({m.rank.rank, "finish.command " + m.finish + "; its output: " + folder + "/" +
                                      write::finish_log_name(m.rank.rank)});
  }
}

// The spool (buffer file) of an ended process holds unwritten events.
void flag_spools(const std::vector<Manifest>& manifests, std::vector<Flag>& flags) {
  for (const Manifest& m : manifests) {
    std::error_code error;
    if (m.spool.empty() || !fs::exists(m.spool, error)) continue;
    if (m.state != "finished" && m.state != "recovered" && !write::is_left_behind(m.spool)) continue;
    flags.push_back({m.rank.rank, "its process ended before it wrote all events; run: profshim recover " + m.spool});
  }
}

std::vector<Flag> find_flags(const std::string& folder, const std::vector<Manifest>& manifests) {
  std::vector<Flag> flags;
  for (const Manifest& m : manifests) {
    if (!readable(m)) flags.push_back({m.rank.rank, m.path + " is not a readable manifest"});
  }
  flag_specs(manifests, flags);
  flag_steps(manifests, flags);
  flag_files(folder, manifests, flags);
  flag_spools(manifests, flags);
  flag_finish(folder, manifests, flags);
  return flags;
}

std::string notes(const ManifestWindow& window) {
  std::string text = window.status;
  if (!window.complete) text += ", incomplete";
  if (window.truncated) text += ", truncated";
  if (window.recovered) text += ", recovered";
  if (window.attempt > 0) text += ", attempt " + std::to_string(window.attempt);
  // A limit is in the trace and in the job's last lines.
  if (!window.missing.empty() && !window.truncated) text += ": " + missing_text(window.missing, 1);
  return text;
}

/// Empty unless a process of the run has a role.
std::string role_column(const std::vector<Manifest>& manifests, const std::string& text) {
  std::size_t width = 0;
  for (const Manifest& m : manifests) width = std::max(width, printable(m.role).size());
  if (width == 0) return {};
  std::string column = " " + text;
  column.resize(std::max(width, std::string_view("ROLE").size()) + 1, ' ');
  return column;
}

struct Run {
  std::string folder;
  std::vector<Manifest> manifests;
  std::vector<Flag> flags;
};

/// "Trainer, ranks 0-1 of 2"; without a role if the processes have several.
std::string title_of(const Run& run) {
  TraceGroup group;
  std::set<std::string> roles;
  for (const Manifest& m : run.manifests) {
    roles.insert(m.role);
    group.world_size = std::max(group.world_size, m.rank.world_size);
    if (m.rank.rank >= 0) group.ranks.insert(m.rank.rank);
  }
  if (roles.size() == 1) group.role = *roles.begin();
  return group.title();
}

void print_text(const Run& run) {
  const auto& [folder, manifests, flags] = run;
  std::uint64_t ranks = 0, files = 0, bytes = 0;
  std::printf("%5s%s %-9s %6s %-9s %10s %10s %8s  %s\n", "RANK", role_column(manifests, "ROLE").c_str(), "STATE",
              "WINDOW", "STEPS", "EVENTS", "BYTES", "DROPPED", "FILE");
  for (const Manifest& m : manifests) {
    if (!readable(m)) continue;
    ++ranks;
    const std::string role = role_column(manifests, printable(m.role));
    if (m.windows.empty()) {
      std::printf("%5d%s %-9s %6s %-9s %10s %10s %8s  -\n", m.rank.rank, role.c_str(), printable(m.state).c_str(), "-",
                  "-", "-", "-", "-");
    }
    for (const ManifestWindow& w : m.windows) {
      std::printf("%5d%s %-9s %6s %-9s %10s %10s %8s  %s (%s)\n", m.rank.rank, role.c_str(), printable(m.state).c_str(),
                  std::to_string(w.window).c_str(), steps_text(w).c_str(), std::to_string(w.events).c_str(),
                  format_size(w.bytes).c_str(), std::to_string(w.dropped).c_str(),
                  w.file.empty() ? "-" : printable(w.file).c_str(), printable(notes(w)).c_str());
      files += !w.file.empty();
      bytes += w.bytes;
    }
    if (m.removed_traces > 0)
      std::printf("%5d %s removed (output.num_traces_to_keep, output.keep_bytes)\n", m.rank.rank,
                  plural(static_cast<std::uint64_t>(m.removed_traces), "trace").c_str());
    if (const std::string lost = m.counts.loss_text(has_last_file(m)); !lost.empty())
      std::printf("%5d %s\n", m.rank.rank, printable(lost).c_str());
    if (!m.finish.empty()) std::printf("%5d finish.command: %s\n", m.rank.rank, printable(m.finish).c_str());
    for (const std::string& problem : m.problems)
      std::printf("%5d problem: %s\n", m.rank.rank, printable(problem).c_str());
  }
  std::printf("%s, %s, %s\n", plural(ranks, "rank").c_str(), plural(files, "file").c_str(), format_size(bytes).c_str());
  for (const Flag& flag : flags) {
    if (flag.rank >= 0) {
      std::printf("! rank %d: %s\n", flag.rank, printable(flag.message).c_str());
    } else {
      std::printf("! %s\n", printable(flag.message).c_str());
    }
  }
}

void write_window(JsonWriter& json, const ManifestWindow& w) {
  json.open_object().member("window", w.window).member("first_step", w.first_step).member("last_step", w.last_step);
  if (!w.phase.empty()) json.member("phase", w.phase).member("occurrence", w.occurrence);
  json.member("file", w.file).member("bytes", w.bytes).member("events", w.events).member("dropped", w.dropped);
  json.member("status", w.status).member("complete", w.complete).list("missing", w.missing);
  json.member("truncated", w.truncated);
  json.member("recovered", w.recovered);
  if (w.attempt > 0) json.member("attempt", w.attempt);
  json.close_object();
}

void write_rank(JsonWriter& json, const Manifest& m) {
  json.open_object().member("rank", m.rank.rank).member("world_size", m.rank.world_size);
  json.member("host", m.rank.host).member("pid", m.pid);
  json.member("run_name", m.run_name).member("role", m.role).member("state", m.state).member("spec_hash", m.spec_hash);
  json.member("step_source", m.step_source).member("steps_seen", m.steps_seen);
  json.member("windows_asked", m.counts.asked).member("windows_lost", m.counts.all_lost() + m.counts.failed);
  json.member("removed_traces", m.removed_traces).member("finish", m.finish).key("windows").open_list();
  for (const ManifestWindow& window : m.windows) write_window(json, window);
  json.close_list().list("problems", m.problems).close_object();
}

void write_run(JsonWriter& json, const Run& run) {
  json.open_object().member("folder", run.folder).member("launch", run::launch_of(run.folder));
  json.line(1).key("ranks").open_list();
  for (const Manifest& manifest : run.manifests) write_rank(json.line_unless_first(2), manifest);
  json.close_list().line(1).key("flags").open_list();
  for (const Flag& flag : run.flags) {
    json.line_unless_first(2).open_object().member("rank", flag.rank).member("message", flag.message).close_object();
  }
  json.close_list().close_object();
}

void print_json(const std::string& folder, const std::vector<Run>& runs, bool is_run) {
  JsonWriter json;
  if (is_run) {
    write_run(json, runs.front());
  } else {
    json.open_object().member("folder", folder).key("runs").open_list();
    for (const Run& run : runs) write_run(json.line_unless_first(0), run);
    json.close_list().close_object();
  }
  std::puts(json.text().c_str());
}

void print_runs(const std::vector<Run>& runs) {
  std::set<std::string> launches;
  for (const Run& run : runs) launches.insert(run::launch_of(run.folder));
  for (const Run& run : runs) {
    std::printf("%s: %s\n", printable(run.folder).c_str(), printable(title_of(run)).c_str());
    print_text(run);
    std::printf("\n");
  }
  if (are_of_one_launch(launches)) {
    std::printf("%s of processes of one launch\n", plural(runs.size(), "group").c_str());
  } else {
    std::printf("%s\n", plural(runs.size(), "run").c_str());
  }
}

/// Returns the folders in memory where this user's ranks keep their events.
std::set<std::string> spool_folders(const std::vector<Run>& runs) {
  std::set<std::string> folders = {"/dev/shm"};
  for (const Run& run : runs) {
    for (const Manifest& m : run.manifests) {
      if (m.spool.starts_with('/')) folders.insert(m.spool.substr(0, m.spool.rfind('/')));
    }
  }
  return folders;
}

Run read_run(const std::string& folder) {
  Run run{folder, run::read_manifests(folder), {}};
  std::sort(run.manifests.begin(), run.manifests.end(),
            [](const Manifest& a, const Manifest& b) { return a.rank.rank < b.rank.rank; });
  if (!run.manifests.empty()) run.flags = find_flags(folder, run.manifests);
  return run;
}

/// Returns the run in the folder and those of its children, or the runs in the folders below it.
std::vector<Run> runs_in(const std::string& folder) {
  std::vector<Run> runs;
  Run run = read_run(folder);
  const bool is_run = !run.manifests.empty();
  if (is_run) runs.push_back(std::move(run));
  std::error_code error, none;
  fs::directory_iterator it(folder, error);
  for (; !error && it != fs::directory_iterator(); it.increment(error)) {
    if (it->is_symlink(none) || !it->is_directory(none) || (is_run && !is_run_folder(it->path()))) continue;
    for (Run& below : runs_in(it->path().string())) runs.push_back(std::move(below));
  }
  std::sort(runs.begin(), runs.end(), [](const Run& a, const Run& b) { return is_earlier_folder(a.folder, b.folder); });
  return runs;
}

int run(int argc, char** argv) {
  std::string folder;
  bool json = false;
  Arguments arguments(
      "ls",
      "Lists the traces of a run per rank and window, and flags problems: a rank with other steps or another\n"
      "spec, missing files, files without a manifest, and events of a killed process that were not written.\n"
      "Also lists the runs below a folder: the groups of processes of one launch have run folders of\n"
      "their own.");
  arguments.add("FOLDER", folder, "Folder of the run (output.folder of the spec), or a folder around runs").required();
  arguments.add("--json", json, "Print JSON");
  arguments.footer("Example:\n  profshim ls ./profshim/my-run\n\n" + std::string(kExitStatus));
  int status = kSuccess;
  if (!arguments.parse(argc, argv, status)) return status;

  std::error_code error;
  if (!fs::is_directory(folder, error)) {
    std::fprintf(stderr, "profshim: %s: no such folder\n", printable(folder).c_str());
    print_left_runs(stderr, spool_folders({}));
    return kFailure;
  }
  if (fs::directory_iterator(folder, error); error) {
    std::fprintf(stderr, "profshim: %s: %s\n", printable(folder).c_str(), error_text(error.value()));
    return kFailure;
  }
  const std::vector<Run> runs = runs_in(folder);
  if (runs.empty()) {
    std::fprintf(stderr, "profshim: %s: contains no manifest-rank*.json; name the folder of a run (output.folder)\n",
                 printable(folder).c_str());
    print_left_runs(stderr, spool_folders({}));
    return kFailure;
  }
  const bool is_run = runs.size() == 1 && runs.front().folder == folder;
  if (json) {
    print_json(folder, runs, is_run);
  } else if (is_run) {
    print_text(runs.front());
  } else {
    print_runs(runs);
  }
  if (!json) print_left_runs(stdout, spool_folders(runs));
  const bool any = std::any_of(runs.begin(), runs.end(), [](const Run& run) { return !run.flags.empty(); });
  return any ? kProblemsFound : kSuccess;
}

}  // namespace

extern const Command kLs;
const Command kLs = {"ls", "list the traces of a run, and flag inconsistent ranks", run};

}  // namespace profshim::cli
