#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "analysis/model/statistics.h"
#include "profshim/trace/metadata.h"
#include "profshim/trace/reader.h"

namespace profshim::analysis_detail {

struct MessageCall {
  bool sends = false;     // at the call's begin; arguments `dest` and `tag`
  bool receives = false;  // at the call's end; arguments `source` and `tag`, or `recv tag` if the call also sends
  /// The same for the asynchronous slice of the call's request.
  bool slice_sends = false, slice_receives = false;
};

/// Returns all false for MPI_Mrecv and partitioned communication: traces do not show their message order.
/// Thread-safe.
MessageCall message_call(std::string_view function);

// First pass of a merge: finds the collectives, messages and RPC requests of each trace.

inline constexpr std::uint64_t kNoEvent = ~std::uint64_t{0} >> 1;

/// One rank's call of a collective that no rank leaves before all have entered.
struct SyncPoint {
  std::uint64_t key = 0;  // the same on all ranks
  std::int64_t begin_ns = 0, end_ns = 0;
  std::uint64_t event : 63 = 0;   // index in the file; kNoEvent: no slice has these times
  std::uint64_t counted : 1 = 0;  // matched by counting, without a sequence number
};

struct Endpoint {
  std::uint64_t key = 0;  // same at both ends of an RPC request; for a message, begin of the call
  std::int64_t at_ns = 0;
  std::uint64_t event = 0;
};

/// Messages from one rank to another in one communicator, with one tag. The n-th receive matches the n-th send.
struct Channel {
  std::vector<Endpoint> sent, received;  // sorted by begin of the call
};

struct RankTrace {
  std::string path, error;            // error: "" if the trace has events
  bool truncated = false;             // events are missing: the file ends early or is damaged
  std::vector<std::string> warnings;  // without the path
  TraceMetadata metadata;
  std::string run_name() const { return metadata.recording ? metadata.recording->run_name : ""; }
  bool has_wall_clock = false;
  std::uint64_t events = 0;
  std::int64_t first_ns = 0, last_ns = 0;
  std::vector<std::int64_t> pids;
  std::int64_t process = -1;  // pid of the first operator or call
  std::int64_t most_correlation = 0, most_external = 0, most_id = 0;

  std::vector<SyncPoint> sync_points;                   // sorted by key, unique
  std::unordered_map<std::uint64_t, Channel> channels;  // key: hash of communicator, ranks and tag
  // Requests of torch.distributed.rpc; sorted by key.
  std::vector<Endpoint> requests, served;       // request sent, execution began
  std::vector<Endpoint> served_until, answers;  // execution ended, answer received
};

/// False if the call failed or did not end.
bool is_whole(const ReadEvent& event);

RankTrace scan_rank_trace(const std::string& path);

/// Uses a thread per CPU. Calls `on_done` on these threads, one call at a time.
std::vector<RankTrace> scan_rank_traces(const std::vector<std::string>& paths,
                                        const std::function<void(std::size_t done)>& on_done = {});

/// Larger or negative event ids are taken for hashes of texts.
inline constexpr std::int64_t kMostCountedId = std::int64_t{1} << 40;

}  // namespace profshim::analysis_detail
