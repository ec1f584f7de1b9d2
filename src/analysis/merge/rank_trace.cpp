#include "rank_trace.h"

#include <algorithm>
#include <atomic>
#include <mutex>
#include <optional>
#include <string_view>
#include <thread>
#include <unordered_map>

#include "analysis/model/collective_family.h"
#include "analysis/model/event_args.h"
#include "profshim/base/key_hash.h"
#include "profshim/event.h"
#include "profshim/hooks/ids.h"
#include "profshim/trace/schema.h"
#include "torch_sync_points.h"

namespace profshim::analysis_detail {
namespace {

struct Row {
  HookId hook;
  std::string_view name, behavior, payload, roles;
};

constexpr Row kRows[] = {
#define HOOK(name, fortran, capitals, behavior, payload, ...) {hooks::name, #name, #behavior, #payload, #__VA_ARGS__},
#include "profshim/hooks/mpi.def"
#undef HOOK
};

MessageCall call_of(const Row& row) {
  const auto has = [&](std::string_view role) { return row.roles.find(role) != std::string_view::npos; };
  if (row.payload == "Nothing" || has("Message") || has("Partitions")) return {};  // "Nothing": payload of probes
  const PeerKind peer = peer_kind(row.hook);
  const bool sends = peer == PeerKind::kDestination, receives = peer == PeerKind::kSource;
  if (row.behavior == "PersistentInit") return {.slice_sends = sends, .slice_receives = receives};
  if (row.behavior == "Sendrecv") return {.sends = sends, .receives = has("RSource")};
  if (row.behavior != "PointToPoint") return {};
  // The receiving half of MPI_Isendrecv is not recorded.
  return has("Request") ? MessageCall{.sends = sends, .slice_receives = receives}
                        : MessageCall{.sends = sends, .receives = receives};
}

}  // namespace

MessageCall message_call(std::string_view function) {
  static const auto* const kCalls = [] {
    auto* const calls = new std::unordered_map<std::string_view, MessageCall>;
    for (const Row& row : kRows) calls->emplace(row.name, call_of(row));
    return calls;
  }();
  const auto at = kCalls->find(function);
  return at != kCalls->end() ? at->second : MessageCall{};
}

namespace {

/// True if no rank can return from `call` before all ranks have entered.
bool waits_for_all(const ReadEvent& call) {
  if (call.name == "MPI_Barrier") return true;
  constexpr std::string_view kNames[] = {"MPI_Allreduce", "MPI_Allgather", "MPI_Alltoall", "MPI_Reduce_scatter_block"};
  return std::find(std::begin(kNames), std::end(kNames), call.name) != std::end(kNames) &&
         integer_arg(call, schema::arg::kCount, 0) > 0;
}

bool is_of_host(std::string_view category) {
  constexpr std::string_view kCategories[] = {schema::category::kCpuOp,          schema::category::kUserAnnotation,
                                              schema::category::kPythonFunction, schema::category::kCudaRuntime,
                                              schema::category::kCudaDriver,     schema::category::kOperator2021,
                                              schema::category::kRuntime2021};
  return std::find(std::begin(kCategories), std::end(kCategories), category) != std::end(kCategories);
}

class Scanner {
 public:
  explicit Scanner(RankTrace& trace) : trace_(trace) {}

  void metadata(std::string_view key, std::string_view json) { trace_.metadata.read(key, json); }

  void event(const ReadEvent& e) {
    const std::uint64_t place = trace_.events++;
    if (e.has_pid && e.pid_is_number) note_pid(e.pid);
    if (e.has_id && (e.id <= kMostCountedId && e.id >= 0)) trace_.most_id = std::max(trace_.most_id, e.id);
    if (!e.has_ts) return;
    note_time(e);
    if (trace_.process < 0 && e.pid_is_number && e.is(schema::phase::kSlice) && is_of_host(e.category))
      trace_.process = e.pid;
    trace_.most_correlation = std::max(trace_.most_correlation, integer_arg(e, schema::arg::kCorrelation, 0));
    trace_.most_external = std::max(trace_.most_external, integer_arg(e, schema::arg::kExternalId, 0));
    if (e.is(schema::phase::kSlice)) {
      complete(e, place);
    } else if (e.is(schema::phase::kAsyncBegin)) {
      begins(e, place);
    } else if (e.is(schema::phase::kAsyncEnd)) {
      ends(e, place);
    }
  }

  void finish() {
    // torch_ matches by counting, which needs all calls.
    const auto& recording = trace_.metadata.recording;
    if (!recording || recording->dropped == 0) torch_.finish(trace_.metadata, trace_.sync_points);
    const auto by_key = [](const auto& a, const auto& b) { return a.key < b.key; };
    std::sort(trace_.sync_points.begin(), trace_.sync_points.end(), by_key);
    // A repeated key is ambiguous: the sequence numbers began again.
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
        std::sort(endpoints->begin(), endpoints->end(), by_key);
    }
  }

 private:
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
    const MessageCall call = message_call(e.name);
    if (call.sends) add_send(e, place);
    if (call.receives) {
      if (Channel* const channel = source_of(e, call.sends ? schema::arg::kReceivedTag : schema::arg::kTag))
        channel->received.push_back({static_cast<std::uint64_t>(e.ts_ns), bounded_sum(e.ts_ns, e.duration_ns), place});
    }
  }

  void add_send(const ReadEvent& e, std::uint64_t place) {
    Channel* const channel = find(text_arg(e, schema::arg::kCommId), integer_arg(e, schema::arg::kDest, -1),
                                  integer_arg(e, schema::arg::kTag, -1), true);
    if (channel != nullptr) channel->sent.push_back({static_cast<std::uint64_t>(e.ts_ns), e.ts_ns, place});
  }

  Channel* source_of(const ReadEvent& e, std::string_view tag_key) {
    return find(text_arg(e, schema::arg::kCommId), integer_arg(e, schema::arg::kSource, -1),
                integer_arg(e, tag_key, -1), false);
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

  void begins(const ReadEvent& e, std::uint64_t place) {
    torch_.begins(e);
    if (!is_whole(e)) return;
    if (e.name.starts_with(schema::name::kMpiStart)) {
      const MessageCall call = message_call(e.name);
      if (call.slice_sends) add_send(e, place);
      if (!call.slice_receives) return;
      if (Channel* const channel = source_of(e, schema::arg::kTag)) open_[e.id] = {channel, 0, e.ts_ns};
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
  std::unordered_map<std::int64_t, Open> open_;
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
  Scanner scanner(trace);
  TraceVisitor visitor;
  visitor.metadata = [&](std::string_view key, std::string_view json, bool) { scanner.metadata(key, json); };
  visitor.event = [&](const ReadEvent& event) {
    scanner.event(event);
    return true;
  };
  const ReadResult read = read_trace(path, visitor);
  trace.truncated = read.is_partial();
  trace.warnings = read.warnings();
  if (trace.truncated) {
    trace.warnings.push_back(read.damaged > 0 ? read.why_partial() + "; the other events are merged"
                                              : "the file ends early; the events before its end are merged");
  }
  trace.error = read.useless();
  scanner.finish();
  trace.first_ns = bounded_sum(trace.first_ns, 0);
  trace.last_ns = bounded_sum(trace.last_ns, 0);
  trace.has_wall_clock = trace.metadata.base_time_ns > 0 || TraceMetadata::is_time_of_day(trace.first_ns);
  return trace;
}

std::vector<RankTrace> scan_rank_traces(const std::vector<std::string>& paths,
                                        const std::function<void(std::size_t done)>& on_done) {
  std::vector<RankTrace> traces(paths.size());
  std::atomic<std::size_t> next{0};
  std::size_t done = 0;
  std::mutex telling;
  const auto work = [&] {
    for (std::size_t i = next++; i < traces.size(); i = next++) {
      traces[i] = scan_rank_trace(paths[i]);
      const std::lock_guard one_at_a_time(telling);
      ++done;
      if (on_done) on_done(done);
    }
  };
  std::vector<std::thread> threads;
  const std::size_t wanted = std::min<std::size_t>(std::max(1u, std::thread::hardware_concurrency()), traces.size());
  for (std::size_t i = 1; i < wanted; ++i) threads.emplace_back(work);
  work();
  for (std::thread& thread : threads) thread.join();
  return traces;
}

}  // namespace profshim::analysis_detail
