// Is a trace what the readers of Kineto traces can read? Numbers are those of the findings (M = must, S = should).
//
//   1 M  strict JSON, UTF-8, one object, first key schemaVersion   2 M  name ends .pt.trace.json[.gz], S with a number
//   3 M  schemaVersion, deviceProperties, traceEvents              4 M  distributedInfo; HTA's text search finds the
//   rank 5 S  pg_config ranks are a list of ints                        6 M  base time, displayTimeUnit 7 S  metadata
//   first, no ']' behind traceEvents                 8 M  ph, name, pid, tid, ts of every event 9 M  cat and dur of X;
//   cat with External id                   10 M  at most three decimals, ts < 8e12 us
//  11 M  known categories                                         12-16, 18-22, 28, 29, 31-34  GPU rows: gpu_checks.cpp
//  17 M  pid and tid of host events                               23 S, 24 M  nesting     25 M/S, 26 S  steps
//  27 S  first element is no launch                               35 S  names of processes and threads
//  36 S  Kineto's three marks                                     37 S  overhead on a real process
//  38 M  nothing outside the window                               39 S  no absurd durations
//  40 S  size                                                     41 M  every b has its e (ours)
//  42 M  one spec on all ranks of a window (ours)
//
// Not looked at: 30 (the n-th NCCL collective of all ranks), which needs the NCCL rows of several files.
// profshim also writes b/e pairs for asynchronous work (a message from its post to its completion); Kineto has none,
// and all readers we know pass over them. They are allowed in 8 and checked in 41.
#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <regex>
#include <set>

#include "analysis/model/findings.h"
#include "analysis/model/rank_text.h"
#include "gpu_checks.h"
#include "profshim/analysis.h"
#include "profshim/trace/metadata.h"
#include "profshim/trace/reader.h"
#include "trace/schema.h"
#include "track_checks.h"

namespace profshim {
namespace {

using namespace analysis_detail;  // the helpers of this folder
using Arg = ReadEvent::ReadArg;
using Kind = Arg::Kind;

constexpr double kMaxTsUs = 8e12;  // beyond, a double no longer tells nanoseconds apart
constexpr std::int64_t kSecondNs = 1000000000;
constexpr std::int64_t kWeekNs = 7 * 86400 * kSecondNs;
constexpr std::uint64_t kMaxViewableBytes = 450'000'000;
constexpr std::int64_t kMaxDevice = 63;

bool is_known_category(std::string_view category) {
  constexpr std::string_view kKnown[] = {schema::category::kCpuOp,
                                         schema::category::kUserAnnotation,
                                         schema::category::kGpuUserAnnotation,
                                         schema::category::kGpuMemcpy,
                                         schema::category::kGpuMemset,
                                         schema::category::kKernel,
                                         schema::category::kCudaRuntime,
                                         schema::category::kCudaDriver,
                                         schema::category::kOverhead,
                                         schema::category::kCpuInstantEvent,
                                         schema::category::kPythonFunction,
                                         schema::category::kCudaSync,
                                         schema::category::kCudaEvent,
                                         schema::category::kTrace,
                                         schema::category::kAc2g,
                                         schema::category::kFwdBwd,
                                         schema::category::kRankFlow,
                                         schema::category::kGlowRuntime,
                                         schema::category::kHpuOp,
                                         schema::category::kCollectiveComm,
                                         schema::category::kHardwareCounters,
                                         schema::category::kCudaProfilerRange};
  if (std::find(std::begin(kKnown), std::end(kKnown), category) != std::end(kKnown)) return true;
  return category.starts_with(schema::category::kMtiaStart) || category.starts_with(schema::category::kXpuStart) ||
         category.starts_with(schema::category::kPrivateUseStart);
}

// ---- what stands before and behind traceEvents
// -----------------------------------------------------------------------

class HeaderChecks {
 public:
  HeaderChecks(FileReport& report, Findings& findings) : report_(report), findings_(findings) {}

  void on_member(std::string_view key, std::string_view json, bool before_events) {
    if (first_key_.empty()) first_key_ = before_events ? key : schema::top::kTraceEvents;
    if (!before_events) behind(key, json);
    metadata_.read(key, json);
    if (key == schema::top::kSchemaVersion) schema_ = json == "1";
    if (key == schema::top::kDisplayTimeUnit) unit_ms_ = json == "\"ms\"";
    if (key == schema::top::kDeviceProperties) devices(json);
    if (key == schema::top::kBaseTime) base_time();
    if (key == schema::top::kDistributedInfo) distributed(json, before_events);
    if (key == schema::top::kProfshim) ours();
  }

  void finish(std::int64_t rank_in_text) {
    if (first_key_ != schema::top::kSchemaVersion) findings_.must(1, "the first key is not schemaVersion", first_key_);
    if (!schema_) findings_.must(3, "schemaVersion is not 1");
    if (!has_devices_) findings_.must(3, "no deviceProperties: torch._inductor's reader stops");
    if (report_.base_time_ns <= 0) findings_.must(6, "no baseTimeNanoseconds");
    if (!unit_ms_) findings_.must(6, "displayTimeUnit is not \"ms\"");
    rank(rank_in_text);
  }

 private:
  void behind(std::string_view key, std::string_view json) {
    if (key != schema::top::kTraceName)
      findings_.should(7, "metadata behind traceEvents: HTA's parser does not see it", std::string(key));
    if (json.find(']') != std::string_view::npos || key.find(']') != std::string_view::npos) {
      findings_.should(7, "a ']' behind traceEvents: torch_tb_profiler inserts its counters there", std::string(key));
    }
  }

  void devices(std::string_view json) {
    has_devices_ = json.starts_with('[');
    constexpr std::string_view kKeys[] = {schema::device::kName,         schema::device::kTotalMemory,
                                          schema::device::kComputeMajor, schema::device::kComputeMinor,
                                          schema::device::kSmCount,      schema::device::kMaxThreadsPerSm,
                                          schema::device::kWarpSize};
    std::set<std::string> seen;
    std::int64_t count = 0;
    json_leaves(json, [&](std::string_view path, const Arg& value) {
      seen.emplace(path);
      if (path.substr(path.rfind('.') + 1) != schema::device::kId) return;
      if (value.integer != count) findings_.must(3, "deviceProperties: id is not the index", std::string(path));
      ++count;
    });
    for (std::int64_t i = 0; i < count; ++i) {
      for (const std::string_view key : kKeys) {
        const std::string path = std::to_string(i) + "." + std::string(key);
        if (!seen.contains(path)) findings_.must(3, "deviceProperties lacks a key", path);
      }
    }
  }

  void base_time() {
    report_.base_time_ns = metadata_.base_time_ns;
    if (report_.base_time_ns % schema::kBaseStepNs != 0)
      findings_.must(6, "baseTimeNanoseconds is no multiple of 7889238 s");
  }

  void distributed(std::string_view json, bool before_events) {
    distributed_ = true;
    if (!before_events) findings_.must(4, "distributedInfo stands behind traceEvents");
    report_.rank = metadata_.rank;
    report_.world_size = metadata_.world_size;
    const std::string groups = std::string(schema::distributed::kGroups) + '.',
                      ranks = '.' + std::string(schema::distributed::kGroupRanks);
    json_leaves(json, [&](std::string_view path, const Arg& value) {
      if (path.starts_with(groups) && path.find(ranks) != std::string_view::npos && value.kind != Kind::kInt &&
          value.text != "[]") {
        findings_.should(5, "pg_config: ranks is no list of integers", std::string(path));
      }
      if (path == schema::distributed::kNcclVersion && value.kind != Kind::kString)
        findings_.should(5, "nccl_version is no text");
    });
    if (report_.rank < 0) findings_.must(4, "distributedInfo has no rank");
    if (report_.world_size < 0) findings_.must(4, "distributedInfo has no world_size");
    if (metadata_.backend.empty()) findings_.must(4, "distributedInfo has no backend");
  }

  void rank(std::int64_t in_text) {
    if (!distributed_) {
      findings_.should(4, "no distributedInfo: HTA takes the file for rank 0");
    } else if (report_.rank >= 0 && in_text != report_.rank) {
      findings_.must(4, "HTA's search for \"rank\": and a number finds another rank than distributedInfo says",
                     in_text < 0 ? "none; a blank must follow the colon" : std::to_string(in_text));
    }
  }

  void ours() {
    report_.spec_hash = metadata_.recording->spec_hash;
    report_.merged = !metadata_.merged.empty();
    add(*metadata_.recording);
    for (const MergedRankInfo& rank : metadata_.merged) {
      if (rank.recording) add(*rank.recording);
    }
  }

  void add(const RecordingInfo& recording) {
    report_.complete = report_.complete && recording.complete;
    report_.truncated = report_.truncated || recording.truncated;
    report_.dropped += recording.dropped;
  }

  FileReport& report_;
  Findings& findings_;
  TraceMetadata metadata_;
  std::string first_key_;
  bool schema_ = false, has_devices_ = false, unit_ms_ = false, distributed_ = false;
};

// ---- every event by itself, and the marks
// ----------------------------------------------------------------------------

class EventChecks {
 public:
  explicit EventChecks(Findings& findings) : findings_(findings) {}

  void on_event(const ReadEvent& event) {
    fields(event);
    if (event.is(schema::phase::kSlice)) slice(event);
    if (event.is(schema::phase::kSlice) || event.is(schema::phase::kAsyncBegin) || event.is(schema::phase::kAsyncEnd))
      host_row(event);
    names(event);
    marks(event);
    if (event.has_name && find_arg(event, schema::arg::kExternalId) != nullptr && event.category.empty()) {
      findings_.must(9, "External id without cat", where_is(event));
    }
    if (!event.category.empty() && !is_known_category(event.category)) {
      findings_.must(11, "unknown category", std::string(event.category.substr(0, 40)) + " " + where_is(event));
    }
    if (first_ && (is_gpu_work(event.category) || is_api_call(event.category))) {
      findings_.should(27, "the first element is a launch: HTA takes index 0 for no link", where_is(event));
    }
    first_ = false;
  }

  void finish() {
    for (const std::int64_t pid : pids_) {
      if (!named_pids_.contains(pid))
        findings_.should(35, "a process without process_name", "pid " + std::to_string(pid));
    }
    for (const auto& [pid, tid] : threads_) {
      if (!named_threads_.contains({pid, tid})) {
        findings_.should(35, "a thread without thread_name", "tid " + std::to_string(tid));
      }
    }
    window();
  }

 private:
  void fields(const ReadEvent& event) {
    constexpr std::string_view kPhases = "XMiCsfbe";
    if (event.phase.size() != 1 || kPhases.find(event.phase) == std::string_view::npos) {
      findings_.must(8, "ph is none of X M i C s f b e", where_is(event));
    }
    if (!event.has_name) findings_.must(8, "no name", where_is(event));
    if (!event.has_pid || !event.has_tid) findings_.must(8, "no pid or no tid", where_is(event));
    if (!event.has_ts) {
      findings_.must(8, "no ts", where_is(event));
    } else if (event.ts_us < 0) {
      findings_.must(8, "negative ts", where_is(event));
    } else if (event.ts_us >= kMaxTsUs) {
      findings_.must(10, "ts of 8e12 us or more: not relative to a base time", where_is(event));
    }
    if (event.finer_than_ns) findings_.must(10, "more than three decimals in ts or dur", where_is(event));
  }

  void slice(const ReadEvent& event) {
    if (event.category.empty()) findings_.must(9, "X without cat", where_is(event));
    if (!event.has_duration) {
      findings_.must(9, "X without dur", where_is(event));
      return;
    }
    if (event.duration_ns < 0) findings_.must(9, "negative dur", where_is(event));
    if (event.duration_ns > kWeekNs) findings_.should(39, "longer than a week", where_is(event));
    if (event.category != schema::category::kTrace) {
      first_begin_ = std::min(first_begin_, event.ts_ns);
      last_begin_ = std::max(last_begin_, event.ts_ns);
      last_end_ = std::max(last_end_, event.ts_ns + std::clamp<std::int64_t>(event.duration_ns, 0, kWeekNs));
      first_where_ = first_begin_ == event.ts_ns ? event.offset : first_where_;
      last_where_ = last_begin_ == event.ts_ns ? event.offset : last_where_;
    }
  }

  void host_row(const ReadEvent& event) {
    if (is_gpu_work(event.category) || event.category == schema::category::kTrace ||
        event.category == schema::category::kGpuUserAnnotation || event.category == schema::category::kCudaSync ||
        event.category == schema::category::kCudaEvent) {
      return;
    }
    if (event.category == schema::category::kOverhead) {
      if (event.pid_is_number && event.pid < 0) {
        findings_.should(37, "overhead on pid -1: drawn under GPU 0 by Perfetto", where_is(event));
      }
      return;
    }
    constexpr std::int64_t kMax = std::numeric_limits<std::uint32_t>::max();
    const auto in_range = [](std::int64_t id) { return id > 0 && id <= kMax; };
    if (!event.pid_is_number || !event.tid_is_number || !in_range(event.pid) || !in_range(event.tid)) {
      findings_.must(17, "pid or tid of a host event is not in 1..2^32-1", where_is(event));
      return;
    }
    // Real for a process in a container; only a reader that does not look at cat mixes it up.
    if (event.pid <= kMaxDevice) findings_.should(17, "a pid below 64 can be taken for a GPU's", where_is(event));
    pids_.insert(event.pid);
    threads_.insert({event.pid, event.tid});
  }

  void names(const ReadEvent& event) {
    if (!event.is(schema::phase::kMetadata) || !event.pid_is_number) return;
    if (event.name == schema::metadata::kProcessName) named_pids_.insert(event.pid);
    if (event.name == schema::metadata::kThreadName && event.tid_is_number)
      named_threads_.insert({event.pid, event.tid});
  }

  void marks(const ReadEvent& event) {
    last_is_end_mark_ = event.is(schema::phase::kInstant) && event.name == schema::name::kWindowEnd;
    if (last_is_end_mark_) end_mark_ns_ = event.ts_ns;
    iteration_mark_ = iteration_mark_ || event.name.starts_with(schema::name::kWindowStart);
    if (!event.is(schema::phase::kSlice) || event.category != schema::category::kTrace || !event.has_duration) return;
    span_ = true;
    span_begin_ = event.ts_ns;
    span_end_ = event.ts_ns + std::clamp<std::int64_t>(event.duration_ns, 0, kWeekNs);
  }

  void window() {
    if (!span_) findings_.should(36, "no span of cat Trace over the window");
    if (!iteration_mark_) findings_.should(36, "no 'Iteration Start' mark");
    if (!last_is_end_mark_) findings_.should(36, "the last element is not 'Record Window End'");
    if (last_is_end_mark_ && end_mark_ns_ < last_end_) {
      findings_.should(36, "'Record Window End' stands before the end of an event");
    }
    if (!span_ || first_begin_ > last_begin_) return;
    if (first_begin_ < span_begin_ || last_end_ > span_end_) {
      findings_.should(36, "the span of cat Trace does not cover all events");
    }
    if (first_begin_ < span_begin_ - kSecondNs) {
      findings_.must(38, "an event more than a second before the window", where_is(first_where_));
    }
    if (last_begin_ > span_end_ + kSecondNs) {
      findings_.must(38, "an event more than a second after the window", where_is(last_where_));
    }
  }

  Findings& findings_;
  bool first_ = true, span_ = false, iteration_mark_ = false, last_is_end_mark_ = false;
  std::int64_t first_begin_ = std::numeric_limits<std::int64_t>::max(), last_begin_ = -1, last_end_ = 0;
  std::uint64_t first_where_ = 0, last_where_ = 0;
  std::int64_t span_begin_ = 0, span_end_ = 0, end_mark_ns_ = 0;
  std::set<std::int64_t> pids_, named_pids_;
  std::set<std::pair<std::int64_t, std::int64_t>> threads_, named_threads_;
};

// ---- one file
// --------------------------------------------------------------------------------------------------------

void check_name(const std::string& path, Findings& findings) {
  const std::string name = path.substr(path.rfind('/') + 1);
  static const std::regex kName(R"(.+\.pt\.trace\.json(\.gz)?)"), kNumbered(R"(.+\.\d+\.pt\.trace\.json(\.gz)?)");
  if (!std::regex_match(name, kName)) {
    // output.filename may say so: a manifest leads our own tool to it.
    findings.should(2, "the file name does not end in .pt.trace.json or .pt.trace.json.gz: TensorBoard passes it over",
                    name);
  } else if (!std::regex_match(name, kNumbered)) {
    findings.should(2, "no number before .pt.trace.json", name);
  }
}

template <class Read>
FileReport verify(const std::string& path, const Read& read) {
  FileReport report;
  report.path = path;
  Findings findings;
  HeaderChecks header(report, findings);
  EventChecks events(findings);
  GpuChecks gpu(findings);
  TrackChecks tracks;
  RankText rank;
  TraceVisitor visitor;
  visitor.bytes = [&](std::string_view piece) { rank.feed(piece); };
  visitor.metadata = [&](std::string_view key, std::string_view json, bool before) {
    header.on_member(key, json, before);
  };
  visitor.event = [&](const ReadEvent& event) {
    events.on_event(event);
    gpu.on_event(event, report.merged);
    tracks.on_event(event);
    return true;
  };
  const ReadResult result = read(visitor);
  report.events = result.events;
  report.readable = result.ok;
  report.truncated = report.truncated || result.truncated;
  check_name(path, findings);
  if (!result.ok) {
    report.error = result.error + " (" + std::to_string(result.events) + " events before it)";
    findings.must(1, "not strict JSON", report.error);
    findings.move_to(report.findings);
    return report;
  }
  if (result.bare_list) findings.must(1, "a list of events, not an object that holds them as traceEvents");
  if (result.repeated_keys > 0) findings.must(1, "a key stands twice in one object", where_is(result.repeated_key_at));
  if (result.bytes > kMaxViewableBytes) findings.should(40, "larger than 450 MB: viewers may not open it");
  header.finish(rank.rank());
  events.finish();
  gpu.finish();
  report.steps = tracks.finish(findings, report.merged);
  findings.move_to(report.findings);
  return report;
}

void add_finding(FileReport& report, int item, bool must, std::string message) {
  report.findings.push_back({.item = item, .must = must, .message = std::move(message)});
}

}  // namespace

bool FileReport::conforms() const {
  return readable && std::none_of(findings.begin(), findings.end(), [](const Finding& f) { return f.must; });
}

FileReport verify_trace(const std::string& path) {
  return verify(path, [&](const TraceVisitor& visitor) { return read_trace(path, visitor); });
}

FileReport verify_trace_bytes(std::string_view bytes, const std::string& path) {
  return verify(path, [&](const TraceVisitor& visitor) { return read_trace_bytes(bytes, visitor); });
}

void verify_together(std::vector<FileReport>& reports) {
  const auto first = std::find_if(reports.begin(), reports.end(), [](const FileReport& r) { return r.readable; });
  std::set<int> ranks;
  for (auto it = first; it != reports.end(); ++it) {
    if (!it->readable) continue;
    if (it->rank >= 0 && !ranks.insert(it->rank).second) {
      add_finding(*it, 4, true, "rank " + std::to_string(it->rank) + " is in another file of this folder too");
    }
    if (it == first) continue;
    const std::string other = " than in " + first->path.substr(first->path.rfind('/') + 1);
    if (it->base_time_ns != first->base_time_ns) add_finding(*it, 6, true, "another baseTimeNanoseconds" + other);
    if (it->steps != first->steps) add_finding(*it, 25, true, "other steps" + other);
    if (it->spec_hash != first->spec_hash) add_finding(*it, 42, true, "another spec hash" + other);
  }
}

}  // namespace profshim
