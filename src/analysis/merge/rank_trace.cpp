#include "rank_trace.h"

#include <algorithm>
#include <optional>
#include <string_view>

#include "analysis/model/collective_family.h"
#include "analysis/model/findings.h"
#include "profshim/base/key_hash.h"
#include "torch_sync_points.h"
#include "trace/schema.h"

namespace profshim::analysis_detail {
namespace {

/// Each member's result needs something of every other one, if there is anything to send.
bool waits_for_all(const ReadEvent& call) {
  if (call.name == "MPI_Barrier") return true;
  constexpr std::string_view kNames[] = {"MPI_Allreduce", "MPI_Allgather", "MPI_Alltoall", "MPI_Reduce_scatter_block"};
  return std::find(std::begin(kNames), std::end(kNames), call.name) != std::end(kNames) &&
         integer_arg(call, schema::arg::kCount, 0) > 0;
}

constexpr std::string_view kSends[] = {"MPI_Send",   "MPI_Ssend",  "MPI_Rsend",  "MPI_Bsend",   "MPI_Isend",
                                       "MPI_Issend", "MPI_Irsend", "MPI_Ibsend", "MPI_Sendrecv"};
bool is_send(std::string_view name) {
  return std::find(std::begin(kSends), std::end(kSends), name) != std::end(kSends);
}

class Reader {
 public:
  explicit Reader(RankTrace& trace) : trace_(trace) {}

  void metadata(std::string_view key, std::string_view json) { trace_.metadata.read(key, json); }

  void event(const ReadEvent& e) {
    const std::uint64_t place = trace_.events++;
    if (e.has_pid && e.pid_is_number) note_pid(e.pid);
    if (e.has_id && (e.id <= kMostCountedId && e.id >= 0)) trace_.most_id = std::max(trace_.most_id, e.id);
    if (!e.has_ts) return;
    note_time(e);
    trace_.most_correlation = std::max(trace_.most_correlation, integer_arg(e, schema::arg::kCorrelation, 0));
    trace_.most_external = std::max(trace_.most_external, integer_arg(e, schema::arg::kExternalId, 0));
    if (e.is(schema::phase::kSlice)) {
      complete(e, place);
    } else if (e.is(schema::phase::kAsyncBegin)) {
      begins(e);
    } else if (e.is(schema::phase::kAsyncEnd)) {
      ends(e, place);
    }
  }

  void finish() {
    // Calls that are matched by counting must all be there.
    const auto& recording = trace_.metadata.recording;
    if (!recording || recording->dropped == 0) torch_.finish(trace_.metadata, trace_.sync_points);
    const auto by_key = [](const auto& a, const auto& b) { return a.key < b.key; };
    std::sort(trace_.sync_points.begin(), trace_.sync_points.end(), by_key);
    // A key that comes twice says nothing: a sequence number that began anew.
    std::vector<SyncPoint> once;
    for (std::size_t i = 0; i < trace_.sync_points.size();) {
      std::size_t next = i + 1;
      while (next < trace_.sync_points.size() && trace_.sync_points[next].key == trace_.sync_points[i].key) ++next;
      if (next == i + 1) once.push_back(trace_.sync_points[i]);
      i = next;
    }
    trace_.sync_points = std::move(once);
    for (auto* const endpoints : {&trace_.requests, &trace_.served, &trace_.served_until, &trace_.answers})
      std::sort(endpoints->begin(), endpoints->end(), by_key);
    for (auto& [key, channel] : trace_.channels) {
      for (auto* const endpoints : {&channel.sent, &channel.received})
        std::sort(endpoints->begin(), endpoints->end(), by_key);  // there it is the begin
    }
  }

 private:
  /// Its rank in a communicator is where it stands among the members.
  std::int64_t own_rank_in(std::string_view name) {
    const auto known = own_ranks_.find(std::string(name));
    if (known != own_ranks_.end()) return known->second;
    std::int64_t own = -1;
    for (const TraceMetadata::Group& group : trace_.metadata.groups) {
      const auto at = std::find(group.ranks.begin(), group.ranks.end(), trace_.metadata.rank);
      if (group.name == name && at != group.ranks.end()) own = at - group.ranks.begin();
    }
    return own_ranks_[std::string(name)] = own;
  }

  void note_pid(std::int64_t pid) {
    if (pid == last_pid_) return;
    last_pid_ = pid;
    if (std::find(trace_.pids.begin(), trace_.pids.end(), pid) == trace_.pids.end()) trace_.pids.push_back(pid);
  }

  void note_time(const ReadEvent& e) {
    if (e.is(schema::phase::kMetadata)) return;
    const std::int64_t end = bounded_sum(e.ts_ns, e.has_duration ? std::max<std::int64_t>(e.duration_ns, 0) : 0);
    if (!has_time_) trace_.first_ns = e.ts_ns;
    trace_.first_ns = std::min(trace_.first_ns, e.ts_ns);
    trace_.last_ns = has_time_ ? std::max(trace_.last_ns, end) : end;
    has_time_ = true;
  }

  void complete(const ReadEvent& e, std::uint64_t place) {
    if (e.name.starts_with(schema::name::kMpiStart)) {
      mpi(e, place);
    } else if (const std::int64_t sequence = integer_arg(e, schema::arg::kSequence, -1);
               e.category == schema::category::kKernel && sequence >= 0) {
      const std::string_view collective = text_arg(e, schema::arg::kCollective);
      if (!collective_family(collective).waits_for_all) return;
      std::uint64_t key = mixed(mixed(kKeyStart, "device"), text_arg(e, schema::arg::kGroupName));
      key = mixed(mixed(key, text_arg(e, schema::arg::kGroupRanks)), collective);
      add_sync_point(e, mixed(key, sequence), place);
    } else if (const std::string_view role = text_arg(e, schema::arg::kRpc); !role.empty()) {
      rpc(e, role, place);
    } else {
      torch_.slice(e, place);
    }
  }

  void add_sync_point(const ReadEvent& e, std::uint64_t key, std::uint64_t place) {
    trace_.sync_points.push_back({key, e.ts_ns, bounded_sum(e.ts_ns, e.duration_ns), place, false});
  }

  void mpi(const ReadEvent& e, std::uint64_t place) {
    const std::string_view comm = text_arg(e, schema::arg::kCommId);
    if (comm.empty() || !is_whole(e)) return;
    if (const std::int64_t sequence = integer_arg(e, schema::arg::kSequence, -1); sequence >= 0) {
      if (integer_arg(e, schema::arg::kGroupSize, 0) > 1 && waits_for_all(e))
        add_sync_point(e, mixed(mixed(mixed(kKeyStart, comm), e.name), sequence), place);
      return;
    }
    if (is_send(e.name)) {
      if (Channel* const channel =
              find(comm, integer_arg(e, schema::arg::kDest, -1), integer_arg(e, schema::arg::kTag, -1), true))
        channel->sent.push_back({static_cast<std::uint64_t>(e.ts_ns), e.ts_ns, place});
    }
    if (e.name == "MPI_Recv" || e.name == "MPI_Sendrecv") {
      const std::int64_t tag = integer_arg(e, e.name == "MPI_Recv" ? schema::arg::kTag : schema::arg::kReceivedTag, -1);
      if (Channel* const channel = find(comm, integer_arg(e, schema::arg::kSource, -1), tag, false))
        channel->received.push_back({static_cast<std::uint64_t>(e.ts_ns), bounded_sum(e.ts_ns, e.duration_ns), place});
    }
  }

  Channel* find(std::string_view comm, std::int64_t peer, std::int64_t tag, bool sends) {
    const std::int64_t own = own_rank_in(comm);
    if (own < 0 || peer < 0 || tag < 0) return nullptr;
    std::uint64_t key = mixed(kKeyStart, comm);
    key = mixed(mixed(key, sends ? own : peer), sends ? peer : own);
    return &trace_.channels[mixed(key, tag)];
  }

  void rpc(const ReadEvent& e, std::string_view role, std::uint64_t place) {
    const std::uint64_t key = rpc_key(e);
    if (key == 0) return;
    if (role == schema::rpc::kSent) trace_.requests.push_back({key, e.ts_ns, place});
    if (role == schema::rpc::kServed) {
      trace_.served.push_back({key, e.ts_ns, place});
      trace_.served_until.push_back({key, bounded_sum(e.ts_ns, e.duration_ns), place});
    }
  }
  static std::uint64_t rpc_key(const ReadEvent& e) {
    const std::int64_t id = integer_arg(e, schema::arg::kRpcId, -1);
    const std::string_view from = text_arg(e, schema::arg::kRpcFrom);
    return id < 0 || from.empty() ? 0 : mixed(mixed(mixed(kKeyStart, schema::arg::kRpc), from), id);
  }

  struct Open {
    Channel* channel;
    std::uint64_t key;
    std::int64_t begin_ns;
  };

  void begins(const ReadEvent& e) {
    torch_.begins(e);
    if (!is_whole(e)) return;
    if (e.name == "MPI_Irecv") {
      Channel* const channel = find(text_arg(e, schema::arg::kCommId), integer_arg(e, schema::arg::kSource, -1),
                                    integer_arg(e, schema::arg::kTag, -1), false);
      if (channel != nullptr) open_[e.id] = {channel, 0, e.ts_ns};
    } else if (text_arg(e, schema::arg::kRpc) == schema::rpc::kRequest) {
      if (const std::uint64_t key = rpc_key(e); key != 0) open_[e.id] = {nullptr, key, e.ts_ns};
    }
  }

  void ends(const ReadEvent& e, std::uint64_t place) {
    torch_.ends(e);
    const auto at = open_.find(e.id);
    if (at == open_.end()) return;
    const Open open = at->second;
    open_.erase(at);
    if (open.channel != nullptr) {
      open.channel->received.push_back({static_cast<std::uint64_t>(open.begin_ns), e.ts_ns, place});
    } else {
      trace_.answers.push_back({open.key, e.ts_ns, place});
    }
  }

  RankTrace& trace_;
  std::unordered_map<std::string, std::int64_t> own_ranks_;
  std::unordered_map<std::int64_t, Open> open_;  // async slices, by id
  std::optional<std::int64_t> last_pid_;
  bool has_time_ = false;
  TorchSyncPoints torch_;
};

}  // namespace

bool is_whole(const ReadEvent& event) {
  return find_arg(event, schema::arg::kFailed) == nullptr && find_arg(event, schema::arg::kFinished) == nullptr;
}

RankTrace scan_rank_trace(const std::string& path) {
  RankTrace trace;
  trace.path = path;
  Reader reader(trace);
  TraceVisitor visitor;
  visitor.metadata = [&](std::string_view key, std::string_view json, bool) { reader.metadata(key, json); };
  visitor.event = [&](const ReadEvent& event) {
    reader.event(event);
    return true;
  };
  const ReadResult read = read_trace(path, visitor);
  trace.truncated = read.truncated;
  trace.error = read.useless();
  reader.finish();
  trace.first_ns = bounded_sum(trace.first_ns, 0);
  trace.last_ns = bounded_sum(trace.last_ns, 0);
  trace.has_wall_clock = trace.metadata.base_time_ns > 0 || TraceMetadata::is_time_of_day(trace.first_ns);
  return trace;
}

}  // namespace profshim::analysis_detail
