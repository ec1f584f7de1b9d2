// What a merge has to know of each trace before it writes the first event: its clock, its numbers, and the moments that
// it shares with other ranks.
#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "analysis/model/statistics.h"
#include "profshim/trace/metadata.h"
#include "profshim/trace/reader.h"

namespace profshim::analysis_detail {

inline constexpr std::uint64_t kNoEvent = ~std::uint64_t{0} >> 1;

/// A collective that nobody leaves before all have come.
struct SyncPoint {
  std::uint64_t key = 0;  // the same on all members
  std::int64_t begin_ns = 0, end_ns = 0;
  std::uint64_t event : 63 =
      0;  // its place in the file; kNoEvent: it is one of several, and was not going on for longer
  std::uint64_t counted : 1 = 0;  // it has no number of its own: which one it is was found by counting calls
};

/// One end of a message, or of a request to another worker.
struct Endpoint {
  std::uint64_t key = 0;  // the same on both sides
  std::int64_t at_ns = 0;
  std::uint64_t event = 0;
};

/// Messages from one rank to another with one tag: the n-th that is received is the n-th that was sent.
struct Channel {
  std::vector<Endpoint> sent, received;  // in order of their begin
};

struct RankTrace {
  std::string path, error;  // error: why it cannot be read; the rest is then empty
  bool truncated = false;
  TraceMetadata metadata;
  std::string run_name() const { return metadata.recording ? metadata.recording->run_name : ""; }
  bool has_wall_clock = false;  // its times are of the day
  std::uint64_t events = 0;
  std::int64_t first_ns = 0, last_ns = 0;
  /// Processes whose ids are numbers, in order of their first event.
  std::vector<std::int64_t> pids;
  std::int64_t most_correlation = 0, most_external = 0, most_id = 0;

  std::vector<SyncPoint> sync_points;                   // by key, each once
  std::unordered_map<std::uint64_t, Channel> channels;  // by communicator, both ranks and tag
  // Of torch.distributed.rpc, by key.
  std::vector<Endpoint> requests, served;       // sent; taken up
  std::vector<Endpoint> served_until, answers;  // done; the sender has the answer
};

/// Neither failed nor still going on when the window ended.
bool is_whole(const ReadEvent& event);

/// Reads a trace once. What cannot be read is said in `error`.
RankTrace scan_rank_trace(const std::string& path);

/// Ids of flows and async slices up to here are numbers as somebody counted them; larger ones are hashes of texts.
inline constexpr std::int64_t kMostCountedId = std::int64_t{1} << 40;

}  // namespace profshim::analysis_detail
