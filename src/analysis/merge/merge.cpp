#include "profshim/analysis/merge.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <map>
#include <memory>
#include <stdexcept>
#include <thread>

#include "analysis/model/one_job.h"
#include "arrows.h"
#include "clocks.h"
#include "copy_rank_trace.h"
#include "profshim/base/text/message_text.h"
#include "profshim/base/version.h"
#include "profshim/json/writer.h"
#include "profshim/trace/reader.h"
#include "profshim/trace/schema.h"
#include "profshim/trace/writer.h"
#include "rank_trace.h"
#include "renumber_ids.h"

namespace profshim {
namespace {

using analysis_detail::ArrowEnd;
using analysis_detail::bounded_sum;
using analysis_detail::ClockMap;
using analysis_detail::OneJob;
using analysis_detail::RankTrace;

std::vector<RankTrace> scan(const MergeOptions& options) {
  const double files = static_cast<double>(options.paths.size());
  std::vector<RankTrace> traces = analysis_detail::scan_rank_traces(options.paths, [&](std::size_t done) {
    if (options.on_progress) options.on_progress(static_cast<double>(done) / files / 2);
  });
  std::stable_sort(traces.begin(), traces.end(), [](const RankTrace& a, const RankTrace& b) {
    // The cast puts traces without a rank (-1) last.
    return static_cast<unsigned>(a.metadata.rank) < static_cast<unsigned>(b.metadata.rank);
  });
  return traces;
}

/// True if neither trace has a rank, and one process wrote both, one after the other.
bool are_windows_of_one_process(const RankTrace& a, const RankTrace& b) {
  if (a.metadata.rank >= 0 || b.metadata.rank >= 0 || a.process < 0) return false;
  if (a.process != b.process || a.metadata.host != b.metadata.host) return false;
  const auto begin = [](const RankTrace& f) { return bounded_sum(f.metadata.base_time_ns, f.first_ns); };
  const auto end = [](const RankTrace& f) { return bounded_sum(f.metadata.base_time_ns, f.last_ns); };
  return end(a) <= begin(b) || end(b) <= begin(a);
}

std::string windows_of_one_process(const std::vector<RankTrace>& traces) {
  for (std::size_t i = 1; i < traces.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      if (!are_windows_of_one_process(traces[j], traces[i])) continue;
      return traces[j].path + " and " + traces[i].path + " are two windows of one process (pid " +
             std::to_string(traces[i].process) +
             "): name one trace of each process; `profshim report` shows the windows of a process together";
    }
  }
  return "";
}

std::string refusal(const std::vector<RankTrace>& traces) {
  if (traces.size() < 2) return "only one trace was given: name the traces of several ranks";
  for (const RankTrace& f : traces) {
    if (!f.error.empty()) return f.path + ": " + f.error;
  }
  for (std::size_t i = 1; i < traces.size(); ++i) {
    const RankTrace &a = traces[i - 1], &b = traces[i];
    if (b.metadata.rank >= 0 && a.metadata.rank == b.metadata.rank) {
      return a.path + " and " + b.path + " are both of rank " + std::to_string(b.metadata.rank) +
             ": name one trace of each rank, all of one window";
    }
  }
  if (std::string windows = windows_of_one_process(traces); !windows.empty()) return windows;
  OneJob job;
  try {
    for (const RankTrace& f : traces) job.add({f.path, f.metadata.host, f.run_name(), f.metadata.world_size});
  } catch (const std::runtime_error& different) {
    return different.what();
  }
  return "";
}

std::string ranks_json(const std::vector<MergedRank>& ranks, const std::vector<RankTrace>& traces) {
  namespace merged = schema::ours::merged;
  JsonWriter json;
  json.open_list();
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    const MergedRank& rank = ranks[i];
    if (i > 0) json.line(4);
    json.open_object();
    json.member(merged::kRank, rank.rank).member(merged::kFile, rank.path).member(merged::kHost, rank.host);
    json.member(merged::kFirstPid, rank.first_pid).member(merged::kEvents, rank.events);
    json.member(merged::kClock, rank.clock).member(merged::kMoments, rank.moments);
    json.key(merged::kOffsetUs).decimal(rank.offset_us, 3).member(merged::kOffsetAtNs, rank.offset_at_ns);
    json.key(merged::kDriftPpm).decimal(rank.drift_ppm, 4).key(merged::kErrorUs);
    if (rank.error_us < 0) {
      json.null();
    } else {
      json.decimal(rank.error_us, 3);
    }
    if (!traces[i].metadata.profshim.empty()) json.key(merged::kProfshim).raw(traces[i].metadata.profshim);
    json.close_object();
  }
  return json.close_list().text();
}

/// Keeps one device per id: readers expect unique ids.
std::vector<std::string> devices_of(const std::vector<RankTrace>& traces) {
  std::map<std::int64_t, std::string> by_id;
  for (const RankTrace& f : traces) {
    for (const std::string& device : f.metadata.devices) {
      std::int64_t id = 0;
      json_leaves(device, [&](std::string_view path, const JsonValue& value) {
        if (path == schema::device::kId) id = value.integer;
      });
      by_id.emplace(id, device);
    }
  }
  std::vector<std::string> devices;
  for (const auto& [id, device] : by_id) devices.push_back(device);
  return devices;
}

TraceHeader header_of(const std::vector<RankTrace>& traces, const std::vector<ClockMap>& clocks,
                      const MergeResult& result, const std::string& out) {
  TraceHeader header;
  std::int64_t first = std::numeric_limits<std::int64_t>::max();
  for (std::size_t i = 0; i < traces.size(); ++i) first = std::min(first, clocks[i](traces[i].first_ns));
  header.base_time_ns = base_time_for(std::max<std::int64_t>(first, 0));
  header.rank.rank = std::max(traces[0].metadata.rank, 0);
  header.rank.world_size = traces[0].metadata.world_size;
  header.rank.host = traces[0].metadata.host;
  header.devices = devices_of(traces);
  header.profshim = {{std::string(schema::ours::kVersion), json_string(kVersion)},
                     {std::string(schema::ours::kRunName), json_string(traces[0].run_name())},
                     {std::string(schema::ours::merged::kKey), ranks_json(result.ranks, traces)},
                     {std::string(schema::ours::kMessagesWithoutArrows), std::to_string(result.messages_left_out)}};
  header.trace_name = out;
  return header;
}

bool write_all(const MergeOptions& options, const std::vector<RankTrace>& traces, const std::vector<ClockMap>& clocks,
               const std::vector<std::vector<ArrowEnd>>& arrows, MergeResult& result) {
  AtomicFile file;
  if (!file.open(options.out)) {
    result.error = options.out + ": cannot be written: " + error_text(file.error());
    return false;
  }
  std::unique_ptr<ByteSink> sink = file_sink(file);
  if (options.out.ends_with(".gz"))
    sink = gzip_sink(std::move(sink), 1, static_cast<int>(std::max(1u, std::thread::hardware_concurrency())) - 1);
  std::int64_t next_id = 0;
  const std::vector<analysis_detail::Renumbering> numbers = analysis_detail::renumber(traces, result.ranks, next_id);
  TraceWriter out(*sink, header_of(traces, clocks, result, options.out));
  analysis_detail::ThreadNumbers threads;
  std::uint64_t events = 0, written = 0;
  for (const RankTrace& f : traces) events += f.events;
  for (std::size_t i = 0; i < traces.size(); ++i) {
    analysis_detail::FileCopy copy(out, traces[i], result.ranks[i], numbers[i], clocks[i], arrows[i], next_id, threads);
    std::uint64_t here = 0;
    TraceVisitor visitor;
    visitor.event = [&](const ReadEvent& event) {
      if (here++ == traces[i].events) return false;  // the file has grown since the scan
      copy.write(event);
      constexpr std::uint64_t kOften = 16384;
      if (++written % kOften == 0 && options.on_progress)
        options.on_progress(0.5 + static_cast<double>(written) / static_cast<double>(events) / 2);
      return !out.failed();
    };
    read_trace(traces[i].path, visitor);
    if (here < traces[i].events && !out.failed()) {
      result.error = traces[i].path + ": changed while it was read; merge again";
      return false;
    }
  }
  result.events = out.events();
  result.bytes = out.bytes();
  if (!out.finish() || !sink->close() || !file.publish(AtomicFile::Existing::kReplace)) {
    result.error = options.out + ": cannot be written: " + error_text(file.error());
    return false;
  }
  return true;
}

}  // namespace

MergeResult merge_traces(const MergeOptions& options) {
  MergeResult result;
  std::vector<RankTrace> traces = scan(options);
  result.error = refusal(traces);
  if (!result.error.empty()) return result;
  for (const RankTrace& f : traces) {
    MergedRank rank;
    rank.path = f.path;
    rank.host = f.metadata.host;
    rank.rank = f.metadata.rank;
    rank.events = f.events;
    result.ranks.push_back(rank);
    result.truncated = result.truncated || f.truncated;
    for (const std::string& warning : f.warnings) result.warnings.push_back(f.path + ": " + warning);
  }
  std::vector<analysis_detail::ClockMap> clocks;
  if (!analysis_detail::align_clocks(traces, options, result.ranks, clocks, result.warnings, result.error))
    return result;
  const auto arrows = analysis_detail::find_arrows(traces, clocks, result);
  write_all(options, traces, clocks, arrows, result);
  return result;
}

}  // namespace profshim
