#include "timeline.h"

#include <algorithm>
#include <charconv>
#include <limits>
#include <stdexcept>

#include "profshim/trace/reader.h"
#include "statistics.h"
#include "trace/schema.h"

namespace profshim::analysis_detail {

TextId Texts::add(std::string_view text) {
  if (const auto at = ids_.find(text); at != ids_.end()) return at->second;
  const auto id = static_cast<TextId>(kept_.size());
  ids_.emplace(kept_.emplace_back(text), id);
  return id;
}

namespace {

using Arg = ReadEvent::ReadArg;

constexpr std::int64_t kMostPolls = std::int64_t{1} << 40;  // what a file says; any number of them can be added up

constexpr std::int64_t kMaxNs = TraceMetadata::kMaxNs;

std::int64_t poll_ns(double us) {  // what is no number is 0
  const double ns = us * 1000;
  return ns > 0 ? static_cast<std::int64_t>(std::min(ns, static_cast<double>(kMaxNs))) : 0;
}

Kind kind_of(std::string_view category) {
  constexpr std::pair<std::string_view, Kind> kKinds[] = {
      {schema::category::kCpuOp, Kind::kCpuOp},
      {schema::category::kKernel, Kind::kKernel},
      {schema::category::kCudaRuntime, Kind::kRuntime},
      {schema::category::kPythonFunction, Kind::kPythonFunction},
      {schema::category::kUserAnnotation, Kind::kUserAnnotation},
      {schema::category::kCudaDriver, Kind::kDriver},
      {schema::category::kGpuMemcpy, Kind::kMemcpy},
      {schema::category::kGpuMemset, Kind::kMemset},
      {schema::category::kGpuUserAnnotation, Kind::kGpuAnnotation},
      {schema::category::kOverhead, Kind::kOverhead},
      {schema::category::kCudaSync, Kind::kSync},
      {schema::category::kCudaEvent, Kind::kSync},
      // 2021
      {schema::category::kOperator2021, Kind::kCpuOp},
      {schema::category::kRuntime2021, Kind::kRuntime},
      {schema::category::kKernel2021, Kind::kKernel},
      {schema::category::kMemcpy2021, Kind::kMemcpy},
      {schema::category::kMemset2021, Kind::kMemset},
  };
  for (const auto& [name, kind] : kKinds) {
    if (name == category) return kind;
  }
  if (category.ends_with(schema::category::kRuntimeEnd)) return Kind::kRuntime;  // xpu_runtime, mtia_runtime
  if (category.ends_with(schema::category::kDriverEnd)) return Kind::kDriver;
  return Kind::kOther;
}

struct TrackHash {
  std::size_t operator()(const Track& t) const {
    std::size_t h = static_cast<std::size_t>(t.pid) * 0x9E3779B97F4A7C15u + static_cast<std::size_t>(t.tid);
    h = h * 0x9E3779B97F4A7C15u + t.pid_text;
    return h * 0x9E3779B97F4A7C15u + t.tid_text;
  }
};

/// b and e meet by category, id and process.
struct PairKey {
  std::int64_t id, pid;
  TextId category, pid_text;
  bool operator==(const PairKey&) const = default;
};
struct PairHash {
  std::size_t operator()(const PairKey& k) const {
    std::size_t h = static_cast<std::size_t>(k.id) * 0x9E3779B97F4A7C15u + static_cast<std::size_t>(k.pid);
    return (h * 0x9E3779B97F4A7C15u + k.category) * 0x9E3779B97F4A7C15u + k.pid_text;
  }
};

/// The arguments of one event that are kept.
struct Kept {
  std::int64_t correlation = 0, external_id = 0, bytes = -1, flops = 0;
  std::string_view input_dims;
  Communication communication;
  bool communicates = false, unfinished = false;
};

class Loader {
 public:
  /// The numbers of its processes count from `first_pid`.
  Loader(const std::string& path, const TimelineOptions& options, std::int64_t first_pid = 0)
      : options_(options), first_pid_(first_pid) {
    timeline_.path = path;
  }
  bool has_events() const { return !timeline_.slices.empty(); }

  /// `metadata`: of the file, or of the rank in a merged one. It is known only now: until 2025-03 the base time stood
  /// behind the events.
  Timeline finish(const ReadResult& result, TraceMetadata metadata) {
    const auto fail = [&](const std::string& what) { throw std::runtime_error(timeline_.path + ": " + what); };
    if (!result.ok && !(result.truncated && !timeline_.slices.empty())) fail(result.error);
    drop_unpaired();
    if (timeline_.slices.empty()) fail("no events in it");
    if (!result.ok) {
      timeline_.truncated = true;
      warn("cut off: " + result.error + "; only the " + std::to_string(result.events) + " events before it count");
    }
    if (result.bare_list) timeline_.dialect = Dialect::kEventList;
    if (impossible_ > 0) warn(std::to_string(impossible_) + " events without a possible time or duration are left out");
    describe(std::move(metadata));
    to_epoch();
    std::stable_sort(timeline_.steps.begin(), timeline_.steps.end(),
                     [](const Step& a, const Step& b) { return a.begin_ns < b.begin_ns; });
    return std::move(timeline_);
  }

  void on_event(const ReadEvent& event) {
    switch (event.letter()) {
      case schema::phase::kSlice:
        if (event.category != schema::category::kTrace) on_slice(event);
        break;
      case schema::phase::kAsyncBegin:
        on_begin(event);
        break;
      case schema::phase::kAsyncEnd:
        on_end(event);
        break;
      case schema::phase::kInstant:
        on_instant(event);
        break;
      default:
        break;
    }
  }

 private:
  void warn(const std::string& sentence) { timeline_.warnings.push_back(timeline_.path + ": " + sentence); }

  void describe(TraceMetadata metadata) {
    timeline_.rank = metadata.rank;
    timeline_.world_size = metadata.world_size;
    timeline_.backend = metadata.backend;
    timeline_.host = metadata.host;
    timeline_.base_time_ns = metadata.base_time_ns;
    timeline_.profile_memory = metadata.profile_memory;
    timeline_.recording = std::move(metadata.recording);
    if (!timeline_.recording) return;
    timeline_.complete = timeline_.recording->complete;
    timeline_.dropped = timeline_.recording->dropped;
  }

  // ---- events

  static bool possible(std::int64_t ns) { return ns >= -kMaxNs && ns <= kMaxNs; }

  void on_slice(const ReadEvent& event) {
    if (!event.has_ts || !event.has_duration || !possible(event.ts_ns) || event.duration_ns < 0 ||
        !possible(event.duration_ns)) {
      ++impossible_;
      return;
    }
    Slice slice = slice_of(event);
    slice.duration_ns = event.duration_ns;
    if (slice.kind == Kind::kUserAnnotation || slice.kind == Kind::kCpuOp) note_step(event, slice);
    timeline_.slices.push_back(slice);
  }

  void on_begin(const ReadEvent& event) {
    if (!event.has_ts || !possible(event.ts_ns)) {
      ++impossible_;
      return;
    }
    Slice slice = slice_of(event);
    slice.asynchronous = true;
    slice.duration_ns = kOpen;
    ++unpaired_;
    open_[pair_key(event, slice.track)].push_back(static_cast<std::uint32_t>(timeline_.slices.size()));
    timeline_.slices.push_back(slice);
  }

  void on_end(const ReadEvent& event) {
    const auto at = open_.find(pair_key(event, track_of(event)));
    if (at == open_.end() || !event.has_ts || !possible(event.ts_ns)) return;
    Slice& slice = timeline_.slices[at->second.back()];
    if (event.ts_ns < slice.begin_ns) return;
    slice.duration_ns = event.ts_ns - slice.begin_ns;
    --unpaired_;
    at->second.pop_back();
    if (at->second.empty()) open_.erase(at);
  }

  PairKey pair_key(const ReadEvent& event, std::uint32_t track) {
    const Track& t = timeline_.tracks[track];
    return {event.id, t.pid, timeline_.texts.add(event.category), t.pid_text};
  }

  // What has begun and not ended has no duration that could be told.
  void drop_unpaired() {
    if (unpaired_ == 0) return;
    std::erase_if(timeline_.slices, [](const Slice& s) { return s.asynchronous && s.duration_ns == kOpen; });
    warn(std::to_string(unpaired_) + " asynchronous events without an end are left out");
  }

  void on_instant(const ReadEvent& event) {
    const bool failed = event.name == schema::name::kOutOfMemory;
    if (!failed && event.name != schema::name::kMemory) return;
    if (!event.has_ts || !possible(event.ts_ns)) {
      ++impossible_;
      return;
    }
    MemoryRecord record{.at_ns = event.ts_ns, .track = track_of(event), .failed = failed};
    for (const Arg& arg : event.args) {
      if (arg.key == schema::arg::kMemoryBytes) record.bytes = arg.integer;
      if (arg.key == schema::arg::kDeviceType) record.device_type = static_cast<std::int32_t>(arg.integer);
      if (arg.key == schema::arg::kDeviceId) record.device_index = static_cast<std::int32_t>(arg.integer);
    }
    timeline_.memory.push_back(record);
  }

  Slice slice_of(const ReadEvent& event) {
    Slice slice;
    slice.begin_ns = event.ts_ns;
    slice.name = timeline_.texts.add(event.name);
    slice.track = track_of(event);
    slice.kind = kind(event);
    if (timeline_.pid < 0 && is_host(slice.kind) && event.pid_is_number) timeline_.pid = event.pid;
    const Kept kept = keep(event, slice.kind);
    slice.correlation = kept.correlation;
    slice.external_id = kept.external_id;
    if (is_device_work(slice.kind)) slice.bytes = kept.bytes;
    slice.flops = kept.flops;
    slice.unfinished = kept.unfinished;
    if (!kept.input_dims.empty()) slice.input_dims = timeline_.texts.add(kept.input_dims);
    if (kept.communicates) {
      slice.communication = static_cast<std::uint32_t>(timeline_.communications.size());
      timeline_.communications.push_back(kept.communication);
    }
    return slice;
  }

  // Neighbours are mostly of one category.
  Kind kind(const ReadEvent& event) {
    const std::string_view category = event.category;
    // So a PyTorch without Kineto says it.
    if (category.empty() && event.pid_text == schema::name::kPid2019) return Kind::kCpuOp;
    if (category != last_category_) {
      last_category_ = category;
      last_kind_ = kind_of(category);
      generation_2021_ = generation_2021_ || category == schema::category::kOperator2021 ||
                         category == schema::category::kRuntime2021 || category == schema::category::kKernel2021;
    }
    return last_kind_;
  }

  std::uint32_t track_of(const ReadEvent& event) {
    Track track{.pid = difference(event.pid, first_pid_), .tid = event.tid};
    if (!event.pid_is_number) track = {0, track.tid, timeline_.texts.add(event.pid_text), 0};
    if (!event.tid_is_number) track = {track.pid, 0, track.pid_text, timeline_.texts.add(event.tid_text)};
    if (!timeline_.tracks.empty() && track == timeline_.tracks[last_track_]) return last_track_;
    const auto [at, is_new] = tracks_.emplace(track, static_cast<std::uint32_t>(timeline_.tracks.size()));
    if (is_new) timeline_.tracks.push_back(track);
    return last_track_ = at->second;
  }

  Kept keep(const ReadEvent& event, Kind kind) {
    Kept kept;
    Communication& c = kept.communication;
    Texts& texts = timeline_.texts;
    const auto text = [&](const Arg& arg) { return arg.kind == Arg::Kind::kString ? texts.add(arg.text) : TextId{0}; };
    const bool mpi = event.name.starts_with(schema::name::kMpiStart), polling = event.name == schema::name::kMpiPolling;
    for (const Arg& arg : event.args) {
      const std::string_view key = arg.key;
      if (polling && key.starts_with(schema::name::kMpiStart)) {
        c.polls += std::clamp<std::int64_t>(arg.integer, 0, kMostPolls);
        kept.communicates = true;
      }
      // By length first: a kernel has twenty arguments, and this runs for each of them.
      switch (key.size()) {
        case schema::arg::kSequence.size():
          if (key == schema::arg::kSequence) c.sequence = arg.integer;
          break;
        case schema::arg::kComm.size():
          if (key == schema::arg::kComm) c.group_label = text(arg), kept.communicates = true;
          if (key == schema::arg::kRoot || key == schema::arg::kPeer || key == schema::arg::kDest) c.peer = arg.integer;
          if (key == schema::arg::kRank) c.rank_in_group = arg.integer;
          break;
        case schema::arg::kBytes.size():
          if (key == schema::arg::kBytes)
            kept.bytes = c.bytes = arg.integer, kept.communicates = kept.communicates || mpi;
          if (key == schema::arg::kDtype) c.dtype = text(arg);
          if (key == schema::arg::kFlops) kept.flops = std::max<std::int64_t>(arg.integer, 0);
          break;
        case schema::arg::kTarget.size():
          if (key == schema::arg::kTarget || (key == schema::arg::kSource && c.peer < 0)) c.peer = arg.integer;
          break;
        case schema::arg::kCommId.size():
          if (key == schema::arg::kCommId) c.group = text(arg), kept.communicates = true;
          break;
        case schema::arg::kDatatype.size():
          if (key == schema::arg::kDatatype) c.dtype = text(arg);
          if (key == schema::arg::kFinished) kept.unfinished = arg.integer == 0;
          if (key == schema::arg::kSourceRank) c.from = arg.integer;
          if (key == schema::arg::kDestinationRank) c.to = arg.integer;
          break;
        case schema::arg::kGroupSize.size():
          if (key == schema::arg::kGroupSize) c.group_size = arg.integer;
          if (key == schema::arg::kReceivedBytes) c.received_bytes = arg.integer;
          if (key == schema::arg::kInputDims && options_.input_dims) kept.input_dims = arg.text;
          break;
        case schema::arg::kCorrelation.size():
          if (key == schema::arg::kCorrelation) kept.correlation = arg.integer;
          if (key == schema::arg::kExternalId || key == schema::arg::kExternalId2021) kept.external_id = arg.integer;
          break;
        case schema::arg::kInElements.size():
          if (key == schema::arg::kInElements) c.elements_in = arg.integer;
          if (polling && key == schema::arg::kInCallsUs) c.in_calls_ns = poll_ns(arg.number);
          break;
        case schema::arg::kOutElements.size():
          if (key == schema::arg::kOutElements) c.elements_out = arg.integer;
          break;
        case schema::arg::kCollective.size():
          if (key == schema::arg::kCollective) c.collective = text(arg), kept.communicates = true;
          break;
        case schema::arg::kGroupName.size():
          if (key == schema::arg::kGroupName) c.group = text(arg), kept.communicates = true;
          break;
        case schema::arg::kGroupRanks.size():
          if (key == schema::arg::kGroupRanks) c.ranks = text(arg);
          break;
        case schema::arg::kGroupDescription.size():
          if (key == schema::arg::kGroupDescription) c.group_label = text(arg);
          break;
        default:
          break;
      }
    }
    if (kind == Kind::kMemcpy || kind == Kind::kMemset) kept.communicates = false;
    return kept;
  }

  void note_step(const ReadEvent& event, const Slice& slice) {
    constexpr std::string_view kStart = schema::name::kStepStart;
    if (!event.name.starts_with(kStart)) return;
    const std::string_view digits = event.name.substr(kStart.size());
    Step step{.begin_ns = slice.begin_ns, .duration_ns = slice.duration_ns, .track = slice.track};
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), step.number);
    if (error == std::errc{} && end == digits.data() + digits.size()) timeline_.steps.push_back(step);
  }

  void to_epoch() {
    if (timeline_.recording) {
      timeline_.dialect = Dialect::kProfshim;
    } else if (generation_2021_) {
      timeline_.dialect = Dialect::kKineto2021;
    } else if (timeline_.base_time_ns > 0) {
      timeline_.dialect = Dialect::kKineto;
    }
    const std::int64_t base = timeline_.base_time_ns;
    for (Slice& slice : timeline_.slices) slice.begin_ns += base;
    for (MemoryRecord& record : timeline_.memory) record.at_ns += base;
    for (Step& step : timeline_.steps) step.begin_ns += base;
  }

  static constexpr std::int64_t kOpen = -1;
  TimelineOptions options_;
  std::int64_t first_pid_;
  bool generation_2021_ = false;
  Timeline timeline_;
  std::unordered_map<Track, std::uint32_t, TrackHash> tracks_;
  std::uint32_t last_track_ = 0;
  std::string last_category_;
  Kind last_kind_ = Kind::kOther;
  std::unordered_map<PairKey, std::vector<std::uint32_t>, PairHash> open_;  // begun, not ended
  std::uint64_t unpaired_ = 0, impossible_ = 0;
};

/// The loaders of a file: one, or for a merged trace one for each rank, that get the events by the numbers of
/// processes.
class RankLoaders {
 public:
  RankLoaders(const std::string& path, const TimelineOptions& options) : path_(path), options_(options) {
    loaders_.push_back({std::nullopt, Loader(path, options)});
  }

  TraceVisitor visitor() {
    TraceVisitor visitor;
    visitor.metadata = [this](std::string_view key, std::string_view json, bool) {
      metadata_.read(key, json);
      if (key == schema::top::kProfshim) divide();
    };
    visitor.event = [this](const ReadEvent& event) {
      if (Loader* const loader = loader_of(event)) loader->on_event(event);
      return true;
    };
    return visitor;
  }

  std::vector<Timeline> finish(const ReadResult& result) {
    // A rank may have none.
    const auto has_none = [](const OfRank& of_rank) { return !of_rank.loader.has_events(); };
    if (!std::all_of(loaders_.begin(), loaders_.end(), has_none)) std::erase_if(loaders_, has_none);
    std::vector<Timeline> timelines;
    for (OfRank& of_rank : loaders_) {
      TraceMetadata metadata = metadata_;
      if (of_rank.merged) {
        metadata.rank = of_rank.merged->rank;
        metadata.host = of_rank.merged->host;
        metadata.recording = of_rank.merged->recording;
      }
      timelines.push_back(of_rank.loader.finish(result, std::move(metadata)));
      timelines.back().merged = std::move(of_rank.merged);
    }
    for (std::size_t i = 1; i < timelines.size(); ++i) {
      // What is wrong with the file is said once.
      std::erase_if(timelines[i].warnings, [&](const std::string& warning) {
        const auto& said = timelines[0].warnings;
        return std::find(said.begin(), said.end(), warning) != said.end();
      });
    }
    return timelines;
  }

 private:
  struct OfRank {
    std::optional<MergedRankInfo> merged;
    Loader loader;
    std::int64_t first_pid() const { return merged ? merged->first_pid : 0; }
  };

  /// Makes a loader for each rank of a merged trace, if its list of ranks stands in front of the events.
  void divide() {
    if (metadata_.merged.empty() || loaders_.front().loader.has_events()) return;
    loaders_.clear();
    for (const MergedRankInfo& rank : metadata_.merged)
      loaders_.push_back({rank, Loader(path_, options_, rank.first_pid)});
    std::sort(loaders_.begin(), loaders_.end(),
              [](const OfRank& a, const OfRank& b) { return a.first_pid() < b.first_pid(); });
  }

  /// Null for what bears no rank's number, in a merged trace that somebody has changed.
  Loader* loader_of(const ReadEvent& event) {
    if (!loaders_.front().merged) return &loaders_.front().loader;
    const auto after =
        std::upper_bound(loaders_.begin(), loaders_.end(), event.pid,
                         [](std::int64_t pid, const OfRank& of_rank) { return pid < of_rank.first_pid(); });
    return event.pid_is_number && after != loaders_.begin() ? &std::prev(after)->loader : nullptr;
  }

  std::string path_;
  TimelineOptions options_;
  TraceMetadata metadata_;       // of the file
  std::vector<OfRank> loaders_;  // by first_pid
};

}  // namespace

std::vector<Timeline> load_timelines(const std::string& path, const TimelineOptions& options) {
  RankLoaders loaders(path, options);
  return loaders.finish(read_trace(path, loaders.visitor()));
}

Timeline load_timeline_bytes(std::string_view bytes, const std::string& path, const TimelineOptions& options) {
  RankLoaders loaders(path, options);
  return std::move(loaders.finish(read_trace_bytes(bytes, loaders.visitor())).front());
}

}  // namespace profshim::analysis_detail
