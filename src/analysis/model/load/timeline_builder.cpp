#include "timeline_builder.h"

#include <algorithm>
#include <stdexcept>

#include "analysis/model/activity_names.h"
#include "profshim/trace/schema.h"
#include "read_event.h"
#include "slice_args.h"

namespace profshim::analysis_detail {
namespace {

constexpr std::int64_t kOpen = -1;  // duration of a slice whose end is not read yet

/// Takes the arguments of a step or phase that only profshim writes. Returns the CPU time of a step; -1 = none.
std::int64_t read_measured(const ReadEvent& event, Counted& counted) {
  constexpr double kMost = 1e15;
  std::int64_t cpu_ns = -1;
  for (const ReadEvent::ReadArg& arg : event.args) {
    if (arg.kind != ReadEvent::ReadArg::Kind::kInt && arg.kind != ReadEvent::ReadArg::Kind::kDouble) continue;
    if (!(arg.number >= 0 && arg.number <= kMost)) continue;
    if (arg.key == schema::arg::kStepCpuUs) cpu_ns = static_cast<std::int64_t>(arg.number * 1000 + 0.5);
    if (arg.key == schema::arg::kCountedPercent) counted.percent = arg.number;
    for (std::size_t n = 0; n < kPerfCounters; ++n) {
      if (arg.key == kPerfCounterNames[n].arg) counted.counters[n] = arg.number;
    }
  }
  return cpu_ns;
}

std::string why_empty(const ReadResult& result) {
  if (result.events == 0) return "no events in it";
  return "none of its " + std::to_string(result.events) + " events has a time and a duration";
}

}  // namespace

std::size_t TimelineBuilder::PairHash::operator()(const PairKey& key) const {
  return hash_of(key.id, key.pid, key.category, key.pid_text);
}

TimelineBuilder::TimelineBuilder(const std::string& path, const TimelineOptions& options, std::int64_t first_pid)
    : options_(options), first_pid_(first_pid) {
  timeline_.path = path;
}

void TimelineBuilder::warn(const std::string& sentence) {
  timeline_.warnings.push_back(timeline_.path + ": " + sentence);
}

void TimelineBuilder::add(const ReadEvent& event) {
  if (!event.is(schema::phase::kSlice)) kinds_.add(event);
  switch (event.letter()) {
    case schema::phase::kSlice:
      if (event.category != schema::category::kTrace) add_slice(event);
      break;
    case schema::phase::kAsyncBegin:
      add_begin(event);
      break;
    case schema::phase::kAsyncEnd:
      add_end(event);
      break;
    case schema::phase::kInstant:
      add_memory_record(event);
      break;
    case schema::phase::kMetadata:
      uncategorized_.note_process(event);
      break;
    default:
      break;
  }
}

void TimelineBuilder::add_slice(const ReadEvent& event) {
  if (!has_possible_time(event) || !event.has_duration || event.duration_ns < 0 ||
      !TraceMetadata::is_possible(event.duration_ns)) {
    ++impossible_;
    return;
  }
  Slice slice = make_slice(event);
  slice.duration_ns = event.duration_ns;
  if (slice.kind == Kind::kUserAnnotation || slice.kind == Kind::kCpuOp) add_step(event, slice);
  if (slice.kind == Kind::kPhase) add_counted_phase(event, slice);
  if (slice.kind == Kind::kOther && event.category.empty()) uncategorized_.add(timeline_.slices.size());
  timeline_.slices.push_back(slice);
}

void TimelineBuilder::add_begin(const ReadEvent& event) {
  if (!has_possible_time(event)) {
    ++impossible_;
    return;
  }
  Slice slice = make_slice(event);
  slice.asynchronous = true;
  slice.duration_ns = kOpen;
  ++unpaired_;
  open_[pair_key(event, slice.track)].push_back(static_cast<std::uint32_t>(timeline_.slices.size()));
  timeline_.slices.push_back(slice);
}

void TimelineBuilder::add_end(const ReadEvent& event) {
  const auto at = open_.find(pair_key(event, find_track(event)));
  if (at == open_.end() || !has_possible_time(event)) return;
  Slice& slice = timeline_.slices[at->second.back()];
  if (event.ts_ns < slice.begin_ns) return;
  slice.duration_ns = event.ts_ns - slice.begin_ns;
  --unpaired_;
  at->second.pop_back();
  if (at->second.empty()) open_.erase(at);
}

void TimelineBuilder::add_memory_record(const ReadEvent& event) {
  if (!is_memory_event(event)) return;
  if (!has_possible_time(event)) {
    ++impossible_;
    return;
  }
  MemoryRecord& record = timeline_.memory.emplace_back(memory_record(event));
  record.track = find_track(event);
}

void TimelineBuilder::add_step(const ReadEvent& event, const Slice& slice) {
  const std::optional<std::int64_t> number = step_number(event.name);
  if (!number || slice.unfinished) return;
  Step step{.number = *number, .begin_ns = slice.begin_ns, .duration_ns = slice.duration_ns, .track = slice.track};
  step.cpu_ns = read_measured(event, step.counted);
  timeline_.steps.push_back(step);
}

void TimelineBuilder::add_counted_phase(const ReadEvent& event, const Slice& slice) {
  CountedPhase phase{.name = slice.name, .resumed = slice.resumed, .counted = {}};
  read_measured(event, phase.counted);
  if (phase.counted.any()) timeline_.counted_phases.push_back(phase);
}

Slice TimelineBuilder::make_slice(const ReadEvent& event) {
  Slice slice;
  slice.begin_ns = event.ts_ns;
  slice.name = timeline_.texts.add(event.name);
  slice.track = find_track(event);
  slice.kind = find_kind(event);
  if (slice.kind == Kind::kOther && !event.category.empty()) ++unknown_[timeline_.texts.add(event.category)];
  if (timeline_.pid < 0 && is_host(slice.kind) && event.pid_is_number) timeline_.pid = event.pid;
  const SliceArgs args = read_slice_args(event, slice.kind, timeline_.texts);
  slice.correlation = args.correlation;
  slice.external_id = args.external_id;
  if (is_device_work(slice.kind)) slice.bytes = args.bytes;
  slice.flops = args.flops;
  slice.unfinished = args.unfinished;
  slice.resumed = args.resumed;
  if (args.outer_phases.empty()) {
    if (!args.phase.empty()) slice.phases = timeline_.texts.add(args.phase);
  } else {
    slice.phases = timeline_.texts.add(((std::string(args.outer_phases) += schema::kPhaseSeparator) += args.phase));
  }
  if (options_.input_dims && !args.input_dims.empty()) slice.input_dims = timeline_.texts.add(args.input_dims);
  if (args.communicates) {
    slice.communication = static_cast<std::uint32_t>(timeline_.communications.size());
    timeline_.communications.push_back(args.communication);
  }
  return slice;
}

TimelineBuilder::PairKey TimelineBuilder::pair_key(const ReadEvent& event, std::uint32_t track) {
  const Track& t = tracks_[track];
  return {event.id, t.pid, timeline_.texts.add(event.category), t.pid_text};
}

Kind TimelineBuilder::find_kind(const ReadEvent& event) {
  const std::string_view category = event.category;
  // A PyTorch without Kineto writes operators without a category.
  if (category.empty() && event.pid_text == schema::name::kPid2019) return Kind::kCpuOp;
  if (category != last_category_) {
    last_category_ = category;
    last_kind_ = kind_of(category);
    has_words_of_2021_ = has_words_of_2021_ || category == schema::category::kOperator2021 ||
                         category == schema::category::kRuntime2021 || category == schema::category::kKernel2021;
  }
  return last_kind_ == Kind::kKernel ? kind_of(category, event.name) : last_kind_;
}

std::uint32_t TimelineBuilder::find_track(const ReadEvent& event) {
  return tracks_.find(event, first_pid_, timeline_.texts);
}

Timeline TimelineBuilder::finish(const ReadResult& result, TraceMetadata metadata) {
  const auto fail = [&](const std::string& what) { throw std::runtime_error(timeline_.path + ": " + what); };
  if (!result.ok && !(result.is_partial() && !timeline_.slices.empty())) fail(result.error);
  drop_unpaired();
  if (timeline_.slices.empty()) {
    if (!kinds_.any()) fail(why_empty(result));
    timeline_.without_durations =
        "none of its " + std::to_string(result.events) + " events has a duration (" + kinds_.text() + ")";
    warn(timeline_.without_durations + ": tables of times are empty");
  }
  for (const std::string& warning : result.warnings()) warn(warning);
  if (!result.ok) {
    timeline_.truncated = true;
    warn(result.why_partial() + "; only the " + std::to_string(result.events) + " complete events are used");
  }
  is_bare_list_ = result.bare_list;
  if (impossible_ > 0) warn(std::to_string(impossible_) + " events without a possible time or duration are left out");
  if (metadata.recording && metadata.recording->left_out > 0) {
    warn(std::to_string(metadata.recording->left_out) +
         " events are left out by the spec (capture.include, exclude, min_us): they are in no count and no sum");
  }
  take_metadata(std::move(metadata));
  timeline_.tracks = tracks_.take();
  if (const std::uint64_t unknown = uncategorized_.find_kinds(timeline_); unknown > 0)
    unknown_[timeline_.texts.add("")] = unknown;
  warn_of_unknown();
  timeline_.dialect = dialect();
  add_base_time();
  std::stable_sort(timeline_.steps.begin(), timeline_.steps.end(),
                   [](const Step& a, const Step& b) { return a.begin_ns < b.begin_ns; });
  return std::move(timeline_);
}

void TimelineBuilder::drop_unpaired() {
  if (unpaired_ == 0) return;
  std::erase_if(timeline_.slices, [](const Slice& s) { return s.asynchronous && s.duration_ns == kOpen; });
  warn(std::to_string(unpaired_) + " asynchronous events without an end are left out");
}

void TimelineBuilder::warn_of_unknown() {
  constexpr std::size_t kMostNames = 8;
  if (unknown_.empty() || timeline_.recording) return;
  std::vector<std::pair<std::uint64_t, std::string>> counts;
  std::uint64_t all = 0;
  for (const auto& [category, count] : unknown_) {
    const std::string_view name = timeline_.texts[category];
    counts.emplace_back(count, name.empty() ? "none" : '"' + std::string(name) + '"');
    all += count;
  }
  std::sort(counts.begin(), counts.end(),
            [](const auto& a, const auto& b) { return a.first != b.first ? a.first > b.first : a.second < b.second; });
  std::string names;
  for (std::size_t i = 0; i < std::min(counts.size(), kMostNames); ++i) {
    names += (i > 0 ? ", " : "") + counts[i].second + ": " + std::to_string(counts[i].first);
  }
  if (counts.size() > kMostNames) names += ", " + std::to_string(counts.size() - kMostNames) + " more";
  warn(std::to_string(all) + (all == 1 ? " slice" : " slices") + " of unknown category (" + names +
       "): shown by name, as host functions");
}

void TimelineBuilder::take_metadata(TraceMetadata metadata) {
  timeline_.rank = metadata.rank;
  timeline_.world_size = metadata.world_size;
  timeline_.backend = metadata.backend;
  timeline_.host = metadata.host;
  timeline_.base_time_ns = metadata.base_time_ns;
  timeline_.profile_memory = metadata.profile_memory;
  timeline_.recording = std::move(metadata.recording);
  if (!timeline_.recording) return;
  timeline_.complete = timeline_.recording->complete;
  timeline_.missing = timeline_.recording->missing;
  timeline_.dropped = timeline_.recording->dropped;
}

Dialect TimelineBuilder::dialect() const {
  if (timeline_.recording) return Dialect::kProfshim;
  if (has_words_of_2021_) return Dialect::kKineto2021;
  if (timeline_.base_time_ns > 0) return Dialect::kKineto;
  return is_bare_list_ ? Dialect::kEventList : Dialect::kKinetoAbsolute;
}

void TimelineBuilder::add_base_time() {
  const std::int64_t base = timeline_.base_time_ns;
  for (Slice& slice : timeline_.slices) slice.begin_ns += base;
  for (MemoryRecord& record : timeline_.memory) record.at_ns += base;
  for (Step& step : timeline_.steps) step.begin_ns += base;
}

}  // namespace profshim::analysis_detail
