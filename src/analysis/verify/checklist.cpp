// Checks that readers of Kineto traces can read a trace, and that profshim's traces keep their promises.
// profshim-verify(1) lists the errors. Items: B = breaks a consumer, an error in all traces; M = must, an error in
// profshim's traces and a note in others; S = should, a note.
// clang-format off
//
//    1 B/M  strict JSON, UTF-8, one object, first key schemaVersion
//    2 S    the file name ends in .pt.trace.json[.gz], with a number before it
//    3 M    schemaVersion, deviceProperties, traceEvents
//    4 M/S  distributedInfo; HTA's text search finds the rank
//    5 S    ranks of pg_config are lists of integers
//    6 M    base time, displayTimeUnit
//    7 S    metadata before traceEvents, no ']' behind traceEvents
//    8 B/M  ph, name, pid, tid, ts of every event
//    9 B/M  cat and dur of X events; cat of events with External id
//   10 M    at most three decimals, ts < 8e12 us
//   11 M    known categories
//   12 B/M, 13-16, 18-22, 28, 29, 31-34  GPU rows: gpu_checks.cpp
//   17 B/M/S  pid and tid of host events
//   23 S    work of one stream, and slices of one thread, nest or do not overlap
//   24 M    no slice of a host thread ends within 1 us after the slice around it
//   25 B/M/S  ProfilerStep#N: consecutive, one thread
//   26 S    no ProfilerStep on GPU rows
//   27 S    the first element is no API call or device activity
//   35 S    names of processes and threads
//   36 S    'Iteration Start', 'Record Window End', and a slice of category Trace over the window
//   37 S    overhead lies on a real process
//   38 M    no event outside the window
//   39 S    no absurd durations
//   40 S    size
//   41 M    every b has its e
//   43 B    flows of fwdbwd have an id and a time
//   42 M    one spec on all ranks of a window (profshim only)
//
// clang-format on
// Item 30 (all ranks have the same n-th NCCL collective) is not checked: it needs the events of several files.
#include <algorithm>
#include <set>

#include "event_checks.h"
#include "findings.h"
#include "gpu_checks.h"
#include "header_checks.h"
#include "profshim/analysis.h"
#include "profshim/trace/reader.h"
#include "track_checks.h"

namespace profshim {
namespace {

using namespace analysis_detail;

constexpr std::uint64_t kMaxViewableBytes = 450'000'000;

void check_name(const std::string& path, Findings& findings) {
  constexpr std::string_view kGzip = ".gz", kEnd = ".pt.trace.json", kDigits = "0123456789";
  const std::string name = path.substr(path.rfind('/') + 1);
  std::string_view stem = name;
  if (stem.ends_with(kGzip)) stem.remove_suffix(kGzip.size());
  const bool is_known = stem.size() > kEnd.size() && stem.ends_with(kEnd);
  if (is_known) stem.remove_suffix(kEnd.size());
  const std::size_t dot = stem.find_last_not_of(kDigits);
  const bool has_number = dot != std::string_view::npos && dot > 0 && stem[dot] == '.' && dot + 1 < stem.size();
  if (!is_known) {
    // Only "should": output.filename may ask for such a name.
    findings.should(2, "the file name does not end in .pt.trace.json or .pt.trace.json.gz: TensorBoard ignores it",
                    name);
  } else if (!has_number) {
    findings.should(2, "the file name has no number before .pt.trace.json: torch_tb_profiler names the span after it",
                    name);
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
    report.error = result.error + " (after " + std::to_string(result.events) + " events)";
    findings.breaks(consumer::kAll, 1, "not JSON", report.error);
    findings.move_to(report.findings, report.ours);
    return report;
  }
  for (const std::string& warning : result.json_warnings())
    findings.breaks(consumer::kHta, 1, "not strict JSON", warning);
  if (result.bare_list)
    findings.breaks(consumer::kHtaAndTensorBoard, 1, "a list of events, not an object that holds them as traceEvents");
  if (result.repeated_keys > 0) findings.must(1, "an object has the same key twice", where_is(result.repeated_key_at));
  if (result.bytes > kMaxViewableBytes) findings.should(40, "larger than 450 MB: viewers may not open it");
  header.finish(rank.rank());
  events.finish();
  gpu.finish();
  report.steps = tracks.finish(findings, report.merged);
  findings.move_to(report.findings, report.ours);
  return report;
}

/// An error in profshim's traces, a note in others.
void add_finding(FileReport& report, int item, std::string message) {
  report.findings.push_back({.item = item, .must = report.ours, .breaks = {}, .message = std::move(message)});
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
      add_finding(*it, 4, "rank " + std::to_string(it->rank) + " is in another file of this folder too");
    }
    if (it == first) continue;
    const std::string other = " than in " + first->path.substr(first->path.rfind('/') + 1);
    if (it->base_time_ns != first->base_time_ns) add_finding(*it, 6, "another baseTimeNanoseconds" + other);
    if (it->steps != first->steps) add_finding(*it, 25, "other steps" + other);
    if (it->spec_hash != first->spec_hash) add_finding(*it, 42, "another spec hash" + other);
  }
}

}  // namespace profshim
