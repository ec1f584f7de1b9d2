#include "file_info.h"

#include <algorithm>
#include <string_view>

#include "convert/warnings.h"
#include "profshim/base/text/number_text.h"
#include "profshim/trace/metadata.h"
#include "profshim/trace/schema.h"

namespace profshim::convert_detail {
namespace {

constexpr std::int64_t kMostNs = TraceMetadata::kMaxNs;

std::optional<std::int64_t> number_in(std::string_view text) {
  std::int64_t number = 0;
  return parse_number(text, number) ? std::optional(number) : std::nullopt;
}

std::optional<std::int64_t> step_number(const ReadEvent& event) {
  constexpr std::string_view kStep = schema::name::kStepStart;
  if (!event.is(schema::phase::kSlice) || !event.name.starts_with(kStep) ||
      event.category == schema::category::kGpuUserAnnotation)
    return std::nullopt;
  return number_in(event.name.substr(kStep.size()));
}

class Reader {
 public:
  explicit Reader(FileInfo& info) : info_(info) {}

  void metadata(std::string_view key, std::string_view json) {
    info_.members.emplace_back(key, json);
    metadata_.read(key, json);
  }

  void event(const ReadEvent& event) {
    ++info_.events;
    if (event.finer_than_ns) ++info_.rounded;
    if (!event.has_ts) return;
    first_ns_ = std::min(first_ns_, event.ts_ns);
    if (const auto number = step_number(event)) {
      steps_.push_back({event.pid_is_number ? std::optional(event.pid) : std::nullopt,
                        {event.ts_ns, event.ts_ns + std::clamp<std::int64_t>(event.duration_ns, 0, kMostNs), *number}});
    }
  }

  void finish() {
    info_.base_ns = metadata_.base_time_ns;
    info_.has_wall_clock = info_.base_ns > 0 || (first_ns_ != INT64_MAX && TraceMetadata::is_time_of_day(first_ns_));
    if (metadata_.recording) info_.window = metadata_.recording->window;
    add_ranks();
    for (const auto& [pid, step] : steps_) {
      if (const std::size_t rank = info_.rank_at(pid); rank < info_.ranks.size())
        info_.ranks[rank].steps.push_back(step);
    }
    for (RankInfo& rank : info_.ranks) {
      std::sort(rank.steps.begin(), rank.steps.end(),
                [](const auto& a, const auto& b) { return a.begin_ns < b.begin_ns; });
    }
  }

 private:
  static std::optional<std::int64_t> known_rank(int rank) {
    return rank >= 0 ? std::optional<std::int64_t>(rank) : std::nullopt;
  }

  void add_ranks() {
    for (const MergedRankInfo& rank : metadata_.merged)
      info_.ranks.push_back({.rank = known_rank(rank.rank), .host = rank.host, .first_pid = rank.first_pid});
    if (info_.ranks.empty()) info_.ranks.push_back({.rank = known_rank(metadata_.rank), .host = metadata_.host});
    std::sort(info_.ranks.begin(), info_.ranks.end(),
              [](const RankInfo& a, const RankInfo& b) { return a.first_pid < b.first_pid; });
  }

  FileInfo& info_;
  TraceMetadata metadata_;
  std::vector<std::pair<std::optional<std::int64_t>, RankInfo::Step>> steps_;
  std::int64_t first_ns_ = INT64_MAX;
};

}  // namespace

std::size_t FileInfo::rank_at(std::optional<std::int64_t> pid) const {
  if (ranks.size() == 1) return 0;
  if (!pid) return ranks.size();
  const auto next = std::upper_bound(ranks.begin(), ranks.end(), *pid,
                                     [](std::int64_t at, const RankInfo& rank) { return at < rank.first_pid; });
  return next == ranks.begin() ? ranks.size() : static_cast<std::size_t>(next - ranks.begin() - 1);
}

const RankInfo* FileInfo::rank_of(const ReadEvent& event) const {
  const std::size_t rank = rank_at(event.pid_is_number ? std::optional(event.pid) : std::nullopt);
  return rank < ranks.size() ? &ranks[rank] : nullptr;
}

std::optional<std::int64_t> FileInfo::step_at(const RankInfo& rank, std::int64_t trace_ns) const {
  const auto next = std::upper_bound(rank.steps.begin(), rank.steps.end(), trace_ns,
                                     [](std::int64_t at, const RankInfo::Step& step) { return at < step.begin_ns; });
  if (next == rank.steps.begin() || std::prev(next)->end_ns <= trace_ns) return std::nullopt;
  return std::prev(next)->number;
}

FileInfo read_file_info(const std::string& path) {
  FileInfo info;
  info.path = path;
  Reader reader(info);
  TraceVisitor visitor;
  visitor.metadata = [&](std::string_view key, std::string_view json, bool) { reader.metadata(key, json); };
  visitor.event = [&](const ReadEvent& event) {
    reader.event(event);
    return true;
  };
  const ReadResult read = read_trace(path, visitor);
  info.truncated = read.truncated;
  info.damaged = read.damaged;
  add_warnings(path, read, info.warnings);
  info.error = read.useless();
  reader.finish();
  return info;
}

}  // namespace profshim::convert_detail
