#include "seen_job.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <map>
#include <stdexcept>

#include "profshim/analysis/groups.h"
#include "profshim/base/glob.h"
#include "profshim/json/document.h"
#include "profshim/trace/metadata.h"
#include "profshim/trace/reader.h"

namespace profshim::cli {
namespace {

/// Loading a trace takes about a second for each 100 MB.
constexpr std::size_t kMostLoaded = 4;

std::string file_name(const std::string& path) { return path.substr(path.rfind('/') + 1); }

/// PyTorch is linked with CUDA and NCCL, and asks for devices, on machines without a GPU, too.
bool is_on_device(const ReadEvent& event) {
  if (event.category == "kernel" || event.category == "gpu_memcpy") return true;
  const bool is_call = event.category == "cuda_runtime" || event.category == "cuda_driver";
  return is_call &&
         (event.name.find("Launch") != std::string_view::npos || event.name.find("Memcpy") != std::string_view::npos);
}

void note_event(const ReadEvent& event, SeenJob& job) {
  if (is_on_device(event)) job.frameworks.insert("CUDA");
  if (event.name.starts_with("nccl")) job.frameworks.insert("NCCL");
  if (event.name.starts_with("MPI_")) job.frameworks.insert("MPI");
  if (event.name.starts_with("aten::")) job.frameworks.insert("PyTorch");
}

/// The events of a trace from the first to the last marker of the steps.
class StepEvents {
 public:
  explicit StepEvents(const SeenJob& job) {
    if (!job.loop) return;
    marker_ = job.loop->marker.source.empty() ? job.loop->begins_at : job.loop->marker.pattern;
    every_ = job.loop->marker.every;
  }

  void add(const ReadEvent& event) {
    begins_.push_back(event.ts_ns);
    if (!glob_match(marker_, event.name)) return;
    first_ns_ = markers_ == 0 ? event.ts_ns : std::min(first_ns_, event.ts_ns);
    last_ns_ = markers_ == 0 ? event.ts_ns : std::max(last_ns_, event.ts_ns);
    ++markers_;
  }

  /// Returns 0 if the trace has no whole step.
  double per_step() const {
    if (markers_ <= every_) return 0;
    const auto inside = std::count_if(begins_.begin(), begins_.end(),
                                      [&](std::int64_t at) { return at >= first_ns_ && at < last_ns_; });
    return static_cast<double>(inside) * every_ / static_cast<double>(markers_ - 1);
  }

 private:
  std::string marker_;
  std::uint32_t every_ = 1;
  std::vector<std::int64_t> begins_;
  std::size_t markers_ = 0;
  std::int64_t first_ns_ = 0, last_ns_ = 0;
};

/// Reads everything but the loop, which must be known.
void read_facts(const std::string& path, SeenJob& job) {
  TraceMetadata metadata;
  std::string torch;
  StepEvents steps(job);
  TraceVisitor visitor;
  visitor.metadata = [&](std::string_view key, std::string_view json, bool) {
    metadata.read(key, json);
    if (key == "profshim") torch = JsonDocument(json).root().member("torch_version").text();
  };
  visitor.event = [&](const ReadEvent& event) {
    note_event(event, job);
    if (event.is('X') && event.has_duration && event.pid_is_number) steps.add(event);
    return true;
  };
  const ReadResult result = read_trace(path, visitor);
  if (const std::string why = result.useless(); !why.empty()) throw std::runtime_error(path + ": " + why);
  if (!torch.empty()) {
    job.frameworks.erase("PyTorch");
    job.frameworks.insert("PyTorch " + torch);
  }
  job.world_size = std::max(job.world_size, metadata.world_size);
  if (metadata.recording) {
    job.to_its_end &= !metadata.recording->truncated && metadata.recording->steps_source == "none";
    if (job.command.empty()) job.command = metadata.recording->command;
  } else {
    job.to_its_end = false;
  }
  if (!job.loop || result.events == 0) return;
  const double bytes_per_event = static_cast<double>(result.bytes) / static_cast<double>(result.events);
  job.loop->bytes_per_step = std::max(job.loop->bytes_per_step, steps.per_step() * bytes_per_event);
}

std::size_t calls_of(const TraceLoop& trace, const StepMarker& marker) {
  std::size_t calls = 0;
  for (std::size_t i = 0; i < trace.symbols.size(); ++i) {
    if (loop::pattern_of(trace.symbols[i]) == marker.pattern) calls += trace.times[i];
  }
  return calls;
}

/// Returns the ranks that have nearly all calls of a marker of `found`; empty = all. A worker of a master may have a
/// part of the master's messages only.
std::vector<int> ranks_with(const StepMarker& marker, const TraceLoop& found, const std::vector<TraceLoop>& all) {
  constexpr double kNearlyAll = 0.9;
  const double enough = kNearlyAll * static_cast<double>(calls_of(found, marker));
  std::vector<int> ranks;
  for (const TraceLoop& other : all) {
    if (static_cast<double>(calls_of(other, marker)) >= enough) ranks.push_back(other.rank);
  }
  return ranks.size() == all.size() ? std::vector<int>() : ranks;
}

SeenLoop seen_loop(const TraceLoop& found, const loop::Finding& finding, const std::vector<TraceLoop>& all) {
  const loop::Level& level = finding.levels[*finding.chosen];
  SeenLoop out;
  out.begins_at = found.symbols[level.boundary.symbol].name;
  out.period_ns = level.period_ns;
  out.steps = level.cycles;
  out.confidence = finding.confidence;
  for (const StepMarker& marker : markers_of(found, level)) {
    std::vector<int> ranks = ranks_with(marker, found, all);
    if (!out.marker.source.empty() && !ranks.empty()) continue;
    out.marker = marker;
    out.ranks = std::move(ranks);
    if (out.ranks.empty()) break;
  }
  if (out.marker.source.empty()) return out;
  out.steps = std::max(out.steps, calls_of(found, out.marker) / out.marker.every);
  for (const TraceLoop& other : all)
    out.most_steps = std::max(out.most_steps, calls_of(other, out.marker) / out.marker.every);
  return out;
}

/// Takes the loop that the search in the job would have found first, if it goes on through the loop of the whole
/// trace: an epoch recurs, too.
SeenLoop loop_of_rank(const TraceLoop& found, const std::vector<TraceLoop>& all) {
  constexpr double kPart = 0.25;
  SeenLoop whole = seen_loop(found, found.finding, all);
  if (!found.settled) return whole;
  SeenLoop first = seen_loop(found, *found.settled, all);
  if (first.marker.source.empty()) return whole;
  const auto time_of = [](const SeenLoop& loop) { return loop.period_ns * static_cast<double>(loop.steps); };
  return time_of(first) >= kPart * time_of(whole) ? first : whole;
}

/// Prefers a loop that a source describes, on all ranks, with high confidence.
std::optional<SeenLoop> best_loop(const std::vector<TraceLoop>& all) {
  std::optional<SeenLoop> best;
  const auto worth = [](const SeenLoop& loop) {
    return std::array{loop.marker.source.empty() ? 0 : 1, loop.ranks.empty() ? 1 : 0,
                      static_cast<int>(loop.confidence)};
  };
  for (const TraceLoop& found : all) {
    if (!found.finding.chosen) continue;
    SeenLoop loop = loop_of_rank(found, all);
    if (!best || worth(loop) > worth(*best)) best = std::move(loop);
  }
  return best;
}

/// Returns the traces of the group with the most bytes: first and last rank first, one trace for each rank.
std::vector<std::string> traces_of_largest_group(const std::vector<std::string>& files, std::size_t& groups) {
  std::map<std::string, std::map<int, std::string>> by_group;
  std::map<std::string, std::uintmax_t> bytes;
  for (const std::string& file : files) {
    const TraceHead head = read_trace_head(file);
    const std::string group = head.run_name + "\n" + head.role + "\n" + std::to_string(head.world_size);
    std::error_code ignored;
    bytes[group] += std::filesystem::file_size(file, ignored);
    by_group[group].emplace(head.ranks.empty() ? -1 : *head.ranks.begin(), file);
  }
  groups = by_group.size();
  const auto largest =
      std::max_element(bytes.begin(), bytes.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
  std::vector<std::string> traces;
  for (const auto& [rank, file] : by_group[largest->first]) traces.push_back(file);
  if (traces.size() > 2) std::rotate(traces.begin() + 1, traces.end() - 1, traces.end());
  return traces;
}

}  // namespace

std::string launcher_of(const std::vector<std::string>& words) {
  constexpr std::array<std::string_view, 13> kLaunchers = {"mpirun",     "mpiexec",    "prterun", "srun",  "torchrun",
                                                           "accelerate", "deepspeed",  "ray",     "jsrun", "aprun",
                                                           "flux",       "horovodrun", "composer"};
  for (const std::string& word : words) {
    if (word.starts_with("torch.distributed.")) return "torchrun";
    const std::string name = file_name(word);
    const std::string_view base = std::string_view(name).substr(0, name.find('.'));
    if (std::find(kLaunchers.begin(), kLaunchers.end(), base) != kLaunchers.end()) return std::string(base);
  }
  return "";
}

SeenJob look_at_traces(const std::vector<std::string>& files) {
  SeenJob job;
  std::vector<TraceLoop> loops;
  std::vector<std::string> traces = traces_of_largest_group(files, job.groups);
  traces.resize(std::min(traces.size(), kMostLoaded));
  for (const std::string& trace : traces) {
    for (TraceLoop& loop : loops_of_trace(trace)) loops.push_back(std::move(loop));
  }
  std::sort(loops.begin(), loops.end(), [](const TraceLoop& a, const TraceLoop& b) { return a.rank < b.rank; });
  job.loop = best_loop(loops);
  for (const std::string& trace : traces) read_facts(trace, job);
  job.has_trace = true;
  return job;
}

}  // namespace profshim::cli
