// profshim ls FOLDER: what a run's folder holds, from its manifests; what does not fit together is flagged.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <map>
#include <set>

#include "cli/command.h"
#include "cli/spec/spec_options.h"
#include "profshim/base/printable.h"
#include "profshim/base/size_text.h"
#include "profshim/output/manifest.h"
#include "profshim/output/recover.h"
#include "profshim/trace.h"
#include "trace_files.h"

namespace profshim::cli {
namespace {

namespace fs = std::filesystem;
using output::Manifest;
using output::ManifestWindow;

struct Flag {
  int rank = -1;  // -1 = no rank in particular
  std::string message;
};

/// The value most ranks have; the smallest of several.
template <class Value>
Value commonest(const std::map<Value, int>& counts) {
  return std::max_element(counts.begin(), counts.end(),
                          [](const auto& a, const auto& b) { return a.second < b.second; })
      ->first;
}

bool readable(const Manifest& manifest) { return !manifest.state.starts_with("unreadable"); }

std::string steps_text(const ManifestWindow& window) {
  if (window.last_step < window.first_step) return "-";
  if (window.last_step == window.first_step) return std::to_string(window.first_step);
  return std::to_string(window.first_step) + "-" + std::to_string(window.last_step);
}

// ---- what does not fit
// -----------------------------------------------------------------------------------------------

void flag_specs(const std::vector<Manifest>& manifests, std::vector<Flag>& flags) {
  std::map<std::string, int> hashes;
  for (const Manifest& m : manifests) {
    if (readable(m)) ++hashes[m.spec_hash];
  }
  if (hashes.size() < 2) return;
  const std::string usual = commonest(hashes);
  for (const Manifest& m : manifests) {
    if (!readable(m) || m.spec_hash == usual) continue;
    flags.push_back({m.rank.rank, "another spec: hash " + m.spec_hash + ", most ranks have " + usual});
  }
}

void flag_steps(const std::vector<Manifest>& manifests, std::vector<Flag>& flags) {
  std::map<std::int64_t, std::map<std::string, int>> windows;
  for (const Manifest& m : manifests) {
    for (const ManifestWindow& w : m.windows) ++windows[w.window][steps_text(w)];
  }
  for (const auto& [number, steps] : windows) {
    if (steps.size() < 2) continue;
    const std::string usual = commonest(steps);
    for (const Manifest& m : manifests) {
      for (const ManifestWindow& w : m.windows) {
        if (w.window != number || steps_text(w) == usual) continue;
        flags.push_back({m.rank.rank, "window " + std::to_string(number) + " holds steps " + steps_text(w) +
                                          ", on most ranks " + usual});
      }
    }
  }
}

void flag_files(const std::string& folder, const std::vector<Manifest>& manifests, std::vector<Flag>& flags) {
  std::set<std::string> named;
  for (const Manifest& m : manifests) {
    for (const ManifestWindow& w : m.windows) {
      if (w.status.starts_with("failed"))
        flags.push_back({m.rank.rank, "window " + std::to_string(w.window) + " " + w.status});
      if (w.file.empty()) continue;
      const fs::path path = (fs::path(folder) / w.file).lexically_normal();
      named.insert(path.string());
      if (w.status != "written") continue;
      std::error_code error;
      const std::uintmax_t size = fs::file_size(path, error);
      if (error) {
        flags.push_back({m.rank.rank, w.file + " is not there"});
      } else if (size != w.bytes) {
        flags.push_back({m.rank.rank, w.file + " has " + std::to_string(size) + " bytes, the manifest says " +
                                          std::to_string(w.bytes)});
      }
    }
  }
  std::vector<std::string> unread;
  for (const std::string& path : cli::traces_below(folder, unread)) {
    if (!named.contains(fs::path(path).lexically_normal().string())) {
      flags.push_back({-1, path + " is in no manifest"});
    }
  }
  for (const std::string& line : unread) flags.push_back({-1, line});
}

// A spool is there as long as its job runs.
void flag_spools(const std::vector<Manifest>& manifests, std::vector<Flag>& flags) {
  for (const Manifest& m : manifests) {
    std::error_code error;
    if (m.spool.empty() || !fs::exists(m.spool, error)) continue;
    if (m.state != "finished" && m.state != "recovered" && !output::is_left_behind(m.spool)) continue;
    flags.push_back({m.rank.rank, "its process is gone and left events behind; try: profshim recover " + m.spool});
  }
}

std::vector<Flag> find_flags(const std::string& folder, const std::vector<Manifest>& manifests) {
  std::vector<Flag> flags;
  for (const Manifest& m : manifests) {
    if (!readable(m)) flags.push_back({m.rank.rank, m.path + " cannot be read as a manifest"});
  }
  flag_specs(manifests, flags);
  flag_steps(manifests, flags);
  flag_files(folder, manifests, flags);
  flag_spools(manifests, flags);
  return flags;
}

// ---- output
// ----------------------------------------------------------------------------------------------------------

std::string notes(const ManifestWindow& window) {
  std::string text = window.status;
  if (!window.complete) text += ", incomplete";
  if (window.truncated) text += ", truncated";
  if (window.recovered) text += ", recovered";
  return text;
}

void print_text(const std::vector<Manifest>& manifests, const std::vector<Flag>& flags) {
  std::uint64_t ranks = 0, files = 0, bytes = 0;
  std::printf("%5s %-9s %6s %-9s %10s %10s %8s  %s\n", "RANK", "STATE", "WINDOW", "STEPS", "EVENTS", "BYTES", "DROPPED",
              "FILE");
  for (const Manifest& m : manifests) {
    if (!readable(m)) continue;  // a flag says so
    ++ranks;
    if (m.windows.empty()) {
      std::printf("%5d %-9s %6s %-9s %10s %10s %8s  -\n", m.rank.rank, printable(m.state).c_str(), "-", "-", "-", "-",
                  "-");
    }
    for (const ManifestWindow& w : m.windows) {
      std::printf("%5d %-9s %6s %-9s %10s %10s %8s  %s (%s)\n", m.rank.rank, printable(m.state).c_str(),
                  std::to_string(w.window).c_str(), steps_text(w).c_str(), std::to_string(w.events).c_str(),
                  format_size(w.bytes).c_str(), std::to_string(w.dropped).c_str(),
                  w.file.empty() ? "-" : printable(w.file).c_str(), printable(notes(w)).c_str());
      files += !w.file.empty();
      bytes += w.bytes;
    }
    for (const std::string& problem : m.problems)
      std::printf("%5d problem: %s\n", m.rank.rank, printable(problem).c_str());
  }
  std::printf("%s ranks, %s files, %s\n", std::to_string(ranks).c_str(), std::to_string(files).c_str(),
              format_size(bytes).c_str());
  for (const Flag& flag : flags) {
    if (flag.rank >= 0) {
      std::printf("! rank %d: %s\n", flag.rank, printable(flag.message).c_str());
    } else {
      std::printf("! %s\n", printable(flag.message).c_str());
    }
  }
}

std::string to_json(const ManifestWindow& w) {
  const auto flag = [](bool value) { return value ? "true" : "false"; };
  std::string text = "{\"window\": " + std::to_string(w.window) + ", \"first_step\": " + std::to_string(w.first_step);
  text += ", \"last_step\": " + std::to_string(w.last_step) + ", \"file\": " + json_string(w.file);
  text += ", \"bytes\": " + std::to_string(w.bytes) + ", \"events\": " + std::to_string(w.events);
  text += ", \"dropped\": " + std::to_string(w.dropped) + ", \"status\": " + json_string(w.status);
  text += std::string(", \"complete\": ") + flag(w.complete) + ", \"truncated\": " + flag(w.truncated);
  return text + ", \"recovered\": " + flag(w.recovered) + "}";
}

std::string to_json(const Manifest& m) {
  std::string text = "{\"rank\": " + std::to_string(m.rank.rank) + ", \"host\": " + json_string(m.rank.host);
  text += ", \"pid\": " + std::to_string(m.pid) + ", \"run_name\": " + json_string(m.run_name);
  text += ", \"state\": " + json_string(m.state) + ", \"spec_hash\": " + json_string(m.spec_hash);
  text += ", \"step_source\": " + json_string(m.step_source) + ", \"steps_seen\": " + std::to_string(m.steps_seen);
  text += ", \"windows\": [";
  for (std::size_t i = 0; i < m.windows.size(); ++i) text += (i ? ", " : "") + to_json(m.windows[i]);
  text += "], \"problems\": [";
  for (std::size_t i = 0; i < m.problems.size(); ++i) text += (i ? ", " : "") + json_string(m.problems[i]);
  return text + "]}";
}

void print_json(const std::string& folder, const std::vector<Manifest>& manifests, const std::vector<Flag>& flags) {
  std::string text = "{\"folder\": " + json_string(folder) + ",\n \"ranks\": [";
  for (std::size_t i = 0; i < manifests.size(); ++i) text += (i ? ",\n  " : "") + to_json(manifests[i]);
  text += "],\n \"flags\": [";
  for (std::size_t i = 0; i < flags.size(); ++i) {
    text += (i ? ",\n  {\"rank\": " : "{\"rank\": ") + std::to_string(flags[i].rank);
    text += ", \"message\": " + json_string(flags[i].message) + "}";
  }
  std::printf("%s]}\n", text.c_str());
}

int run(int argc, char** argv) {
  std::string folder;
  bool json = false;
  CLI::App app{
      "Shows what a run's folder holds, per rank and window, and flags what does not fit together: other steps or\n"
      "another spec on a rank, files without a manifest, events left behind by a killed process.\n"
      "Example: profshim ls ./profshim/my-run\nExit code: 0 fine, 1 something is flagged, 2 no such folder or no "
      "manifests."};
  app.name("profshim ls");
  app.add_option("FOLDER", folder, "The run's folder (output.folder of the spec)")->required();
  app.add_flag("--json", json, "JSON instead of text");
  int status = kFine;
  if (!parse_arguments(app, argc, argv, status)) return status;

  std::error_code error;
  if (!fs::is_directory(folder, error)) {
    std::fprintf(stderr, "profshim: %s: no such folder\n", printable(folder).c_str());
    return 2;
  }
  if (fs::directory_iterator(folder, error); error) {
    std::fprintf(stderr, "profshim: %s: %s\n", printable(folder).c_str(), error.message().c_str());
    return 2;
  }
  std::vector<Manifest> manifests = output::read_manifests(folder);
  if (manifests.empty()) {
    std::fprintf(stderr, "profshim: %s: no manifest-rank*.json in it; is it the run's folder?\n",
                 printable(folder).c_str());
    return 2;
  }
  std::sort(manifests.begin(), manifests.end(),
            [](const Manifest& a, const Manifest& b) { return a.rank.rank < b.rank.rank; });
  const std::vector<Flag> flags = find_flags(folder, manifests);
  if (json) {
    print_json(folder, manifests, flags);
  } else {
    print_text(manifests, flags);
  }
  return flags.empty() ? 0 : 1;
}

}  // namespace

extern const Command kLs;
const Command kLs = {"ls", "what a run's folder holds, and which ranks do not fit", run};

}  // namespace profshim::cli
