#include "selection.h"

#include <algorithm>
#include <atomic>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "launch_environment.h"
#include "profshim/base/command_line.h"
#include "profshim/base/files.h"
#include "profshim/base/glob.h"
#include "profshim/base/text/number_text.h"
#include "profshim/session.h"

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

namespace {

constexpr unsigned bit(Use use) { return static_cast<unsigned>(use); }
constexpr unsigned kLibraries = bit(Use::kCuda) | bit(Use::kNccl) | bit(Use::kMpi) | bit(Use::kTorch);

constinit std::atomic<unsigned> seen{0};
constinit std::atomic<unsigned> required{0};  // 0 = unknown

unsigned required_by(const Spec& spec) {
  const auto& any = spec.process.require_any;
  return (any.cuda ? bit(Use::kCuda) : 0) | (any.nccl ? bit(Use::kNccl) : 0) | (any.mpi ? bit(Use::kMpi) : 0) |
         (any.torch ? bit(Use::kTorch) : 0) | (any.start ? bit(Use::kStart) : 0);
}

/// Without a valid spec, any use will do: activate() then reports the errors.
unsigned read_required() {
  if (!requested()) return kLibraries;
  try {
    const LoadedSpec loaded = load_own_spec();
    return loaded.ok() ? required_by(loaded.spec) : kLibraries;
  } catch (...) {
    return kLibraries;
  }
}

}  // namespace

bool may_begin_at_start() {
  if (!requested()) return false;
  constexpr std::string_view kKey = "require_any";
  try {
    const SpecSources sources = own_sources();
    const auto names_key = [&](const auto& variable) { return variable.second.find(kKey) != std::string::npos; };
    if (std::any_of(sources.environment.begin(), sources.environment.end(), names_key)) return true;
    std::string text;
    int error = 0;
    // An included file may have the key.
    return !sources.file.empty() && read_file(sources.file, text, error) &&
           (text.find(kKey) != std::string::npos || text.find("include") != std::string::npos);
  } catch (...) {
    return false;
  }
}

bool note_use(Use use) {
  unsigned wanted = required.load(std::memory_order_relaxed);
  // Two threads may read the spec. A lock could stay locked in a forked child.
  if (wanted == 0) required.store(wanted = read_required(), std::memory_order_relaxed);
  unsigned uses = seen.load(std::memory_order_relaxed);
  if ((uses & bit(use)) == 0) uses = seen.fetch_or(bit(use), std::memory_order_relaxed) | bit(use);
  return (uses & wanted) != 0;
}

void forget_uses() { seen = 0; }

std::string uses_in_vain(const Spec& spec) {
  const unsigned uses = seen.load(std::memory_order_relaxed);
  if ((uses & required_by(spec)) != 0) return {};
  std::string text;
  for (const auto& [use, name] : {std::pair{Use::kCuda, "CUDA"}, std::pair{Use::kNccl, "NCCL"},
                                  std::pair{Use::kMpi, "MPI"}, std::pair{Use::kTorch, "PyTorch"}}) {
    if ((uses & bit(use)) != 0) text.append(text.empty() ? "" : " and ").append(name);
  }
  return text;
}

}  // namespace profshim::session
