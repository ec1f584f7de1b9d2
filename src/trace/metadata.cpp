#include "profshim/trace/metadata.h"

#include <algorithm>
#include <limits>

#include "profshim/json.h"
#include "profshim/trace/completeness.h"
#include "profshim/trace/schema.h"

namespace profshim {
namespace {

using Kind = JsonValue::Kind;

void set_text(const JsonValue& value, std::string& to) {
  if (value.kind == Kind::kString) to = value.text;
}

void set_number(const JsonValue& value, double& to) {
  if (value.kind == Kind::kInt || value.kind == Kind::kDouble) to = value.number;
}

void set_flag(const JsonValue& value, bool& to) {
  if (value.kind == Kind::kBool || value.kind == Kind::kInt) to = value.integer != 0;
}

void set_small(const JsonValue& value, int least, int& to) {
  if (value.kind == Kind::kInt && value.integer >= least && value.integer <= std::numeric_limits<int>::max())
    to = static_cast<int>(value.integer);
}

std::string text_of(std::string_view json) {
  std::string text;
  json_leaves(json, [&](std::string_view path, const JsonValue& value) {
    if (path.empty()) set_text(value, text);
  });
  return text;
}

std::int64_t base_time_of(std::string_view json) {
  std::int64_t ns = 0;
  json_leaves(json, [&](std::string_view path, const JsonValue& value) {
    const bool possible = value.kind == Kind::kInt && value.integer > 0 && value.integer <= TraceMetadata::kMaxNs;
    if (path.empty() && possible) ns = value.integer;
  });
  return ns;
}

class DistributedReader {
 public:
  explicit DistributedReader(TraceMetadata& to) : to_(to) {
    to.groups.clear();
    start_ = std::string(schema::distributed::kGroups) + '.';
  }

  void leaf(std::string_view path, const JsonValue& value) {
    if (path == schema::distributed::kRank) set_small(value, 0, to_.rank);
    if (path == schema::distributed::kWorldSize) set_small(value, 1, to_.world_size);
    if (path == schema::distributed::kBackend) set_text(value, to_.backend);
    if (!path.starts_with(start_)) return;
    path.remove_prefix(start_.size());
    const std::size_t end = std::min(path.find('.'), path.size());
    if (to_.groups.empty() || path.substr(0, end) != group_) to_.groups.emplace_back();
    group_ = path.substr(0, end);
    if (end < path.size()) member(to_.groups.back(), path.substr(end + 1), value);
  }

 private:
  static void member(TraceMetadata::Group& group, std::string_view path, const JsonValue& value) {
    const std::string_view key = path.substr(0, path.find('.'));
    if (path == schema::distributed::kGroupName) set_text(value, group.name);
    if (value.kind != Kind::kInt) return;
    if (path == schema::distributed::kGroupSize) group.size = value.integer;
    if (key == schema::distributed::kGroupRanks && path != key) group.ranks.push_back(value.integer);
  }

  TraceMetadata& to_;
  std::string start_, group_;
};

bool tells_loss(std::string_view path) {
  const auto has = [&](std::string_view part) { return path.find(part) != std::string_view::npos; };
  return has("dropped") || has("lost") || has("left_out");
}

bool is_drop_count(std::string_view path) {
  return path == schema::ours::kDroppedEvents || path == schema::ours::kDropped || path == schema::ours::kDroppedTotal;
}

bool is_problem(std::string_view path) {
  return path.starts_with(schema::ours::problem::kPathStart) && path.ends_with(schema::ours::problem::kLostPathEnd);
}

class CpuReader {
 public:
  void leaf(std::string_view path, const JsonValue& value) {
    constexpr std::pair<std::string_view, double RecordedCpu::*> kMembers[] = {
        {schema::ours::cpu::kMeasuredPath, &RecordedCpu::measured_us},
        {schema::ours::cpu::kWaitedPath, &RecordedCpu::waited_us},
        {schema::ours::cpu::kProcessPath, &RecordedCpu::process_us},
        {schema::ours::cpu::kMachinePath, &RecordedCpu::machine_us},
        {schema::ours::cpu::kStolenPath, &RecordedCpu::stolen_us},
        {schema::ours::cpu::kCpusPath, &RecordedCpu::cpus}};
    for (std::size_t i = 0; i < std::size(kMembers); ++i) {
      double number = -1;
      if (path == kMembers[i].first) set_number(value, number);
      if (!(number >= 0)) continue;
      cpu_.*kMembers[i].second = number;
      found_ |= 1u << i;
    }
  }

  std::optional<RecordedCpu> result() const {
    constexpr unsigned kAll = (1u << 6) - 1;
    if (found_ != kAll || cpu_.measured_us <= 0 || cpu_.cpus < 1) return std::nullopt;
    return cpu_;
  }

 private:
  RecordedCpu cpu_;
  unsigned found_ = 0;
};

/// Collects the counts of losses, for traces without the list of what is missing.
class LossReader {
 public:
  void leaf(std::string_view path, const JsonValue& value) {
    if (path.starts_with(schema::ours::kMissingPathStart) && value.kind == Kind::kString)
      missing_.emplace_back(value.text);
    if (value.kind == Kind::kInt && value.integer > 0) losses_.count(path, static_cast<std::uint64_t>(value.integer));
  }

  /// `complete`: as the trace says.
  std::vector<std::string> missing(bool complete) const {
    if (!missing_.empty()) return missing_;
    std::vector<std::string> missing = missing_in(losses_);
    if (missing.empty() && !complete) missing.emplace_back("the job ended, or threads were not recorded");
    return missing;
  }

 private:
  WindowLosses losses_;
  std::vector<std::string> missing_;
};

RecordingInfo recording_of(std::string_view json) {
  RecordingInfo info;
  CpuReader cpu;
  LossReader losses;
  const std::string merged_start(schema::ours::merged::kPathStart);
  json_leaves(json, [&](std::string_view path, const JsonValue& value) {
    if (path.starts_with(merged_start)) return;  // merged_rank_of() reads these
    if (path == schema::ours::kRunName) set_text(value, info.run_name);
    if (path == schema::ours::kCommand) set_text(value, info.command);
    if (path == schema::ours::kSpecHash) set_text(value, info.spec_hash);
    if (path == schema::ours::recorded::kRolePath) set_text(value, info.role);
    if (path == schema::ours::phase::kNamePath) set_text(value, info.phase);
    if (path == schema::ours::steps::kSourcePath) set_text(value, info.steps_source);
    if (path == schema::ours::steps::kFirstMarkerPath) set_text(value, info.first_step_marker);
    if (path == schema::ours::kComplete) set_flag(value, info.complete);
    if (path == schema::ours::kTruncated) set_flag(value, info.truncated);
    if (path == schema::ours::kNodeRank) set_small(value, 0, info.node_rank);
    if (path == schema::ours::kRecovered) set_flag(value, info.recovered);
    cpu.leaf(path, value);
    losses.leaf(path, value);
    if (is_problem(path) && value.kind == Kind::kString) info.problems.emplace_back(value.text);
    if (value.kind != Kind::kInt) return;
    if (path == schema::ours::kWindow) info.window = value.integer;
    if (path == schema::ours::phase::kOccurrencePath) info.occurrence = value.integer;
    if (path == schema::ours::phase::kFirstTickPath) info.first_tick = value.integer;
    if (value.integer <= 0) return;
    if (is_drop_count(path)) {
      info.dropped = static_cast<std::uint64_t>(value.integer);
    } else if (path == schema::ours::left_out::kEventsPath) {
      info.left_out = static_cast<std::uint64_t>(value.integer);
    } else if (tells_loss(path) && !path.starts_with(schema::ours::left_out::kPathStart)) {
      info.losses.emplace_back(path, value.integer);
    }
  });
  info.cpu = cpu.result();
  info.missing = losses.missing(info.complete);
  info.complete = info.missing.empty();
  return info;
}

MergedRankInfo merged_rank_of(std::string_view json) {
  MergedRankInfo info;
  json_leaves(json, [&](std::string_view path, const JsonValue& value) {
    if (path == schema::ours::merged::kRank) set_small(value, 0, info.rank);
    if (path == schema::ours::merged::kHost) set_text(value, info.host);
    if (path == schema::ours::merged::kClock) set_text(value, info.clock);
    if (path == schema::ours::merged::kFirstPid && value.kind == Kind::kInt) info.first_pid = value.integer;
    if (path == schema::ours::merged::kOffsetUs) set_number(value, info.offset_us);
    if (path == schema::ours::merged::kDriftPpm) set_number(value, info.drift_ppm);
    if (path == schema::ours::merged::kErrorUs) set_number(value, info.error_us);
  });
  if (const std::string own = json_part(json, schema::ours::merged::kProfshim); !own.empty())
    info.recording = recording_of(own);
  return info;
}

}  // namespace

void TraceMetadata::read(std::string_view key, std::string_view json) {
  if (key == schema::top::kBaseTime) {
    base_time_ns = base_time_of(json);
  } else if (key == schema::top::kHostName) {
    host = text_of(json);
  } else if (key == schema::top::kProfileMemory) {
    profile_memory = json == "1" || json == "true";
  } else if (key == schema::top::kDeviceProperties) {
    devices = json_elements(json);
  } else if (key == schema::top::kDistributedInfo) {
    DistributedReader reader(*this);
    json_leaves(json, [&](std::string_view path, const JsonValue& value) { reader.leaf(path, value); });
  } else if (key == schema::top::kProfshim) {
    profshim = json;
    recording = recording_of(json);
    merged.clear();
    for (const std::string& element : json_elements(json_part(json, schema::ours::merged::kKey)))
      merged.push_back(merged_rank_of(element));
  }
}

}  // namespace profshim
