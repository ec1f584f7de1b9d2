#include "selection.h"

#include <algorithm>
#include <string>
#include <vector>

#include "launch_environment.h"
#include "profshim/base/command_line.h"
#include "profshim/base/glob.h"
#include "profshim/base/text/number_text.h"

namespace profshim::session {

SpecSources own_sources() {
  SpecSources sources = sources_from_environment();
  sources.file = from_launch_folder(sources.file);
  return sources;
}

LoadedSpec load_own_spec() { return load_spec(own_sources()); }

void set_up_log(const Spec& spec) {
  log::set_level(spec.profile.log_level);
  if (spec.profile.log != "stderr") log::set_file(from_launch_folder(spec.profile.log));
}

void report_problems(const LoadedSpec& loaded, const Rank& rank) {
  constexpr std::size_t kMostErrors = 4;
  if (rank.rank > 0) return;
  std::vector<std::string> errors;
  for (const Problem& p : loaded.problems) {
    if (p.severity == Problem::Severity::kError) {
      errors.push_back(to_line(p));
    } else {
      log::line(LogLevel::kWarn, "%s", to_line(p).c_str());
    }
  }
  if (errors.empty()) return;
  const std::size_t shown = std::min(errors.size(), kMostErrors);
  for (std::size_t i = 0; i + 1 < shown; ++i) log::line(LogLevel::kError, "%s", errors[i].c_str());
  const std::string more = errors.size() > shown
                               ? " (and " + std::to_string(errors.size() - shown) + " more: run `profshim check`)"
                               : std::string();
  const char* const outcome = loaded.spec.profile.abort_on_error ? "profile.on_error = \"abort\": the job ends here"
                                                                 : "nothing is recorded, the job runs on";
  log::line(LogLevel::kError, "%s%s; %s", errors[shown - 1].c_str(), more.c_str(), outcome);
}

namespace {

bool any_glob_matches(const std::vector<std::string>& globs, const std::string& text, const std::string& name) {
  return std::any_of(globs.begin(), globs.end(),
                     [&](const std::string& glob) { return glob_match(glob, text) || glob_match(glob, name); });
}

}  // namespace

bool is_process_selected(const Spec& spec) {
  const std::string line = command_line();
  const std::string name = program_name();
  if (any_glob_matches(spec.process.exclude, line, name)) return false;
  return spec.process.match.empty() || any_glob_matches(spec.process.match, line, name);
}

Rank rank_by_source(const Spec& spec, const Rank& from_mpi) {
  if (spec.ranks.source == "auto" || spec.ranks.source == "mpi") return from_mpi;
  Rank rank = from_mpi;
  rank.source = spec.ranks.source;
  rank.rank = number_in_environment(spec.ranks.source.c_str());
  return rank;
}

std::string role_of_process(const Spec& spec) {
  return !spec.process.role.empty() ? spec.process.role : role_of_title(process_arguments());
}

bool records(const Spec& spec, const Rank& rank) {
  return spec.ranks.select.selects(rank) ||
         std::any_of(spec.phases.begin(), spec.phases.end(),
                     [&](const PhaseSpec& phase) { return phase.has_windows && is_selected(spec, phase, rank); });
}

bool is_first_selected(const Spec& spec, const Rank& rank, int from) {
  for (int r = from; r < rank.rank; ++r) {
    Rank other;
    other.rank = r;
    other.world_size = rank.world_size;
    other.role = rank.role;
    if (records(spec, other)) return false;
  }
  return true;
}

bool is_first_selected_of_host(const Spec& spec, const Rank& rank) {
  return is_first_selected(spec, rank, std::max(0, rank.rank - std::max(0, rank.local_rank)));
}

bool is_rank_selected(const Spec& spec, const Rank& rank) {
  if (rank.rank < 0) {
    if (spec.ranks.record_unknown) return true;
    log::line(LogLevel::kWarn,
              "ranks.source = \"%s\" gives no rank: nothing is recorded (ranks.unknown = \"record\" records anyway)",
              spec.ranks.source.c_str());
    return false;
  }
  if (rank.rank == 0 && rank.world_size > 0) {
    for (const int outside : spec.ranks.select.outside(rank.world_size)) {
      log::line(LogLevel::kWarn, "ranks.select = \"%s\" names rank %d, but there are only ranks 0-%d",
                spec.ranks.select.text().c_str(), outside, rank.world_size - 1);
    }
  }
  return records(spec, rank);
}

}  // namespace profshim::session
