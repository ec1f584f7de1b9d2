#include "file_info.h"

#include <algorithm>
#include <charconv>
#include <string_view>

namespace profshim::convert_detail {
namespace {

using Value = ReadEvent::ReadArg;

constexpr std::int64_t kMostNs = 3'000'000'000'000'000'000;

std::optional<std::int64_t> number_in(std::string_view text) {
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return number;
}

std::optional<std::int64_t> step_number(const ReadEvent& event) {
  constexpr std::string_view kStep = "ProfilerStep#";
  if (event.phase != "X" || !event.name.starts_with(kStep) || event.category == "gpu_user_annotation")
    return std::nullopt;
  return number_in(event.name.substr(kStep.size()));
}

class Reader {
 public:
  explicit Reader(FileInfo& info) : info_(info) { info.ranks.resize(1); }

  void metadata(std::string_view key, std::string_view json) {
    info_.members.emplace_back(key, json);
    if (key == "baseTimeNanoseconds") {
      info_.base_ns = std::clamp<std::int64_t>(number_in(json).value_or(0), 0, kMostNs);
      info_.has_wall_clock = info_.base_ns > 0;
    } else if (key == "distributedInfo") {
      json_leaves(json, [this](std::string_view path, const Value& value) {
        if (path == "rank" && value.kind == Value::Kind::kInt) only().rank = value.integer;
      });
    } else if (key == "host_name") {
      json_leaves(json, [this](std::string_view, const Value& value) { only().host = value.text; });
    } else if (key == "profshim") {
      ours(json);
    }
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
    if (!info_.has_wall_clock) info_.has_wall_clock = first_ns_ != INT64_MAX && first_ns_ > 1'000'000'000'000'000'000;
    if (!merged_.empty()) {
      info_.ranks = std::move(merged_);
      std::sort(info_.ranks.begin(), info_.ranks.end(),
                [](const RankInfo& a, const RankInfo& b) { return a.first_pid < b.first_pid; });
    }
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
  RankInfo& only() { return info_.ranks[0]; }

  void ours(std::string_view json) {
    json_leaves(json, [this](std::string_view path, const Value& value) {
      if (path == "window" && value.kind == Value::Kind::kInt) info_.window = value.integer;
    });
    for (const std::string& text : json_elements(json_part(json, "merged"))) {
      RankInfo& rank = merged_.emplace_back();
      json_leaves(text, [&](std::string_view key, const Value& value) {
        if (key == "rank" && value.kind == Value::Kind::kInt && value.integer >= 0) rank.rank = value.integer;
        if (key == "host") rank.host = value.text;
        if (key == "first_pid" && value.kind == Value::Kind::kInt) rank.first_pid = value.integer;
      });
    }
  }

  FileInfo& info_;
  std::vector<RankInfo> merged_;
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
  info.why_truncated = read.error;
  info.error = read.useless();
  reader.finish();
  return info;
}

}  // namespace profshim::convert_detail
