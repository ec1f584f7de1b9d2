// The first pass of a merge over one trace: its clock, the numbers it uses, and the moments that it shares with other
// ranks. Called by merge_traces() and by the report; traces are scanned on several threads.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <unordered_map>
#include <vector>

#include "analysis/model/statistics.h"
#include "profshim/trace/metadata.h"
#include "profshim/trace/reader.h"

namespace profshim::analysis_detail {

inline constexpr std::uint64_t kNoEvent = ~std::uint64_t{0} >> 1;

/// One rank's part of a collective that no member leaves before all have entered.
struct SyncPoint {
  std::uint64_t key = 0;  // the same on all members
  std::int64_t begin_ns = 0, end_ns = 0;
  std::uint64_t event : 63 = 0;   // index in the file; kNoEvent: no slice has exactly these times
  std::uint64_t counted : 1 = 0;  // matched by counting calls, because the collective has no sequence number
};

/// One end of a message, or of an RPC request.
struct Endpoint {
  std::uint64_t key = 0;  // of a request: the same on both sides; of a message: the begin of the call
  std::int64_t at_ns = 0;
  std::uint64_t event = 0;
};

/// Messages from one rank to another with one tag. The n-th receive matches the n-th send.
struct Channel {
  std::vector<Endpoint> sent, received;  // ordered by the begin of their calls
};

struct RankTrace {
  std::string path, error;  // error: why the file cannot be read; all else is then empty
  bool truncated = false;
  TraceMetadata metadata;
  std::string run_name() const { return metadata.recording ? metadata.recording->run_name : ""; }
  bool has_wall_clock = false;  // times are relative to the Unix epoch
  std::uint64_t events = 0;
  std::int64_t first_ns = 0, last_ns = 0;
  /// Numeric pids, in order of their first event.
  std::vector<std::int64_t> pids;
  std::int64_t most_correlation = 0, most_external = 0, most_id = 0;

  std::vector<SyncPoint> sync_points;                   // ordered by key; keys are unique
  std::unordered_map<std::uint64_t, Channel> channels;  // keyed by communicator, both ranks and tag
  // torch.distributed.rpc, ordered by key.
  std::vector<Endpoint> requests, served;       // request sent; execution began
  std::vector<Endpoint> served_until, answers;  // execution ended; the sender received the answer
};

/// Returns false if the call failed or was still running when the window ended.
bool is_whole(const ReadEvent& event);

/// Reads a trace once. Failures are in RankTrace::error.
RankTrace scan_rank_trace(const std::string& path);

/// Scans traces on as many threads as there are CPUs; the result is in the order of `paths`. `on_done` is called on
/// these threads, one call at a time, with the number of finished traces.
std::vector<RankTrace> scan_rank_traces(const std::vector<std::string>& paths,
                                        const std::function<void(std::size_t done)>& on_done = {});

/// Ids of flows and asynchronous slices up to this value are counters. Larger ones are hashes of text ids.
inline constexpr std::int64_t kMostCountedId = std::int64_t{1} << 40;

}  // namespace profshim::analysis_detail
