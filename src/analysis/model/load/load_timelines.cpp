#include <algorithm>

#include "analysis/model/timeline.h"
#include "profshim/trace/schema.h"
#include "timeline_builder.h"

namespace profshim::analysis_detail {
namespace {

class FileLoader {
 public:
  FileLoader(const std::string& path, const TimelineOptions& options) : path_(path), options_(options) {
    ranks_.push_back({std::nullopt, TimelineBuilder(path, options)});
  }

  TraceVisitor visitor() {
    TraceVisitor visitor;
    visitor.metadata = [this](std::string_view key, std::string_view json, bool) {
      metadata_.read(key, json);
      if (key == schema::top::kProfshim) split_by_rank();
    };
    visitor.event = [this](const ReadEvent& event) {
      if (TimelineBuilder* const builder = builder_of(event)) builder->add(event);
      return true;
    };
    return visitor;
  }

  std::vector<Timeline> finish(const ReadResult& result) {
    // If no rank has events, keep all builders: the first reports the error.
    const auto is_empty = [](const Rank& rank) { return !rank.builder.has_events(); };
    if (!std::all_of(ranks_.begin(), ranks_.end(), is_empty)) std::erase_if(ranks_, is_empty);
    std::vector<Timeline> timelines;
    for (Rank& rank : ranks_) {
      TraceMetadata metadata = metadata_;
      if (rank.merged) {
        metadata.rank = rank.merged->rank;
        metadata.host = rank.merged->host;
        metadata.recording = rank.merged->recording;
      }
      timelines.push_back(rank.builder.finish(result, std::move(metadata)));
      timelines.back().merged = std::move(rank.merged);
    }
    keep_first_warnings(timelines);
    return timelines;
  }

 private:
  struct Rank {
    std::optional<MergedRankInfo> merged;
    TimelineBuilder builder;
    std::int64_t first_pid() const { return merged ? merged->first_pid : 0; }
  };

  void split_by_rank() {
    if (metadata_.merged.empty() || ranks_.front().builder.has_events()) return;
    ranks_.clear();
    for (const MergedRankInfo& rank : metadata_.merged) {
      ranks_.push_back({rank, TimelineBuilder(path_, options_, rank.first_pid)});
    }
    std::sort(ranks_.begin(), ranks_.end(), [](const Rank& a, const Rank& b) { return a.first_pid() < b.first_pid(); });
  }

  TimelineBuilder* builder_of(const ReadEvent& event) {
    if (!ranks_.front().merged) return &ranks_.front().builder;
    const auto after = std::upper_bound(ranks_.begin(), ranks_.end(), event.pid,
                                        [](std::int64_t pid, const Rank& rank) { return pid < rank.first_pid(); });
    return event.pid_is_number && after != ranks_.begin() ? &std::prev(after)->builder : nullptr;
  }

  static void keep_first_warnings(std::vector<Timeline>& timelines) {
    for (std::size_t i = 1; i < timelines.size(); ++i) {
      std::erase_if(timelines[i].warnings, [&](const std::string& warning) {
        const auto& first = timelines[0].warnings;
        return std::find(first.begin(), first.end(), warning) != first.end();
      });
    }
  }

  std::string path_;
  TimelineOptions options_;
  TraceMetadata metadata_;
  std::vector<Rank> ranks_;
};

}  // namespace

std::vector<Timeline> load_timelines(const std::string& path, const TimelineOptions& options) {
  FileLoader loader(path, options);
  return loader.finish(read_trace(path, loader.visitor()));
}

Timeline load_timeline_bytes(std::string_view bytes, const std::string& path, const TimelineOptions& options) {
  FileLoader loader(path, options);
  return std::move(loader.finish(read_trace_bytes(bytes, loader.visitor())).front());
}

}  // namespace profshim::analysis_detail
