#include "facts.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <string_view>

#include "analysis/model/collective_family.h"
#include "analysis/model/findings.h"
#include "profshim/base/key_hash.h"
#include "torch.h"

namespace profshim::analysis_detail {
namespace {

using Kind = ReadEvent::ReadArg::Kind;

/// Each member's result needs something of every other one, if there is anything to send.
bool waits_for_all(const ReadEvent& call) {
  if (call.name == "MPI_Barrier") return true;
  constexpr std::string_view kNames[] = {"MPI_Allreduce", "MPI_Allgather", "MPI_Alltoall", "MPI_Reduce_scatter_block"};
  return std::find(std::begin(kNames), std::end(kNames), call.name) != std::end(kNames) &&
         integer_arg(call, "count", 0) > 0;
}

constexpr std::string_view kSends[] = {"MPI_Send",   "MPI_Ssend",  "MPI_Rsend",  "MPI_Bsend",   "MPI_Isend",
                                       "MPI_Issend", "MPI_Irsend", "MPI_Ibsend", "MPI_Sendrecv"};
bool is_send(std::string_view name) {
  return std::find(std::begin(kSends), std::end(kSends), name) != std::end(kSends);
}

class Reader {
 public:
  explicit Reader(MergeFacts& facts) : facts_(facts) {}

  void metadata(std::string_view key, std::string_view json) {
    if (key == "baseTimeNanoseconds") {
      std::from_chars(json.data(), json.data() + json.size(), facts_.base_ns);
      facts_.has_wall_clock = facts_.base_ns > 0;
    } else if (key == "distributedInfo") {
      json_leaves(json, [this](std::string_view path, const ReadEvent::ReadArg& value) { distributed(path, value); });
    } else if (key == "host_name") {
      json_leaves(json, [this](std::string_view, const ReadEvent::ReadArg& value) { facts_.host = value.text; });
    } else if (key == "profshim") {
      facts_.profshim = json;
      json_leaves(json, [this](std::string_view path, const ReadEvent::ReadArg& value) {
        if (path == "run_name") facts_.run_name = value.text;
        if (path == "dropped_events") lossy_ = value.integer > 0;
        if (path == "steps.source" && value.text.starts_with("time")) torch_.ignore_steps();
      });
    } else if (key == "deviceProperties") {
      facts_.devices = json_elements(json);
    }
  }

  void event(const ReadEvent& e) {
    const std::uint64_t place = facts_.events++;
    if (e.has_pid && e.pid_is_number) note_pid(e.pid);
    if (e.has_id && (e.id <= kMostCountedId && e.id >= 0)) facts_.most_id = std::max(facts_.most_id, e.id);
    if (!e.has_ts) return;
    note_time(e);
    facts_.most_correlation = std::max(facts_.most_correlation, integer_arg(e, "correlation", 0));
    facts_.most_external = std::max(facts_.most_external, integer_arg(e, "External id", 0));
    if (e.phase == "X") {
      complete(e, place);
    } else if (e.phase == "b") {
      begins(e);
    } else if (e.phase == "e") {
      ends(e, place);
    }
  }

  void finish() {
    // Of calls that are counted none may be missing.
    if (!lossy_) torch_.finish(facts_.meetings);
    const auto by_key = [](const auto& a, const auto& b) { return a.key < b.key; };
    std::sort(facts_.meetings.begin(), facts_.meetings.end(), by_key);
    // A key that comes twice says nothing: a sequence number that began anew.
    std::vector<Meeting> once;
    for (std::size_t i = 0; i < facts_.meetings.size();) {
      std::size_t next = i + 1;
      while (next < facts_.meetings.size() && facts_.meetings[next].key == facts_.meetings[i].key) ++next;
      if (next == i + 1) once.push_back(facts_.meetings[i]);
      i = next;
    }
    facts_.meetings = std::move(once);
    for (auto* const endpoints : {&facts_.requests, &facts_.served, &facts_.served_until, &facts_.answers})
      std::sort(endpoints->begin(), endpoints->end(), by_key);
    for (auto& [key, channel] : facts_.channels) {
      for (auto* const endpoints : {&channel.sent, &channel.received})
        std::sort(endpoints->begin(), endpoints->end(), by_key);  // there it is the begin
    }
  }

 private:
  void distributed(std::string_view path, const ReadEvent::ReadArg& value) {
    if (path == "rank" && value.kind == Kind::kInt) facts_.rank = static_cast<int>(value.integer);
    if (path == "world_size" && value.kind == Kind::kInt) facts_.world_size = static_cast<int>(value.integer);
    torch_.distributed(path, value);
    if (!path.starts_with("pg_config.")) return;
    if (path.ends_with(".pg_name")) {
      group_ = value.text;
    } else if (path.find(".ranks.") != std::string_view::npos && value.kind == Kind::kInt) {
      // Its rank in each communicator: where it stands among the members.
      std::int64_t index = 0;
      const std::string_view number = path.substr(path.rfind('.') + 1);
      std::from_chars(number.data(), number.data() + number.size(), index);
      members_[group_].emplace_back(index, value.integer);
    }
  }

  std::int64_t own_rank_in(std::string_view group) {
    const auto known = own_ranks_.find(std::string(group));
    if (known != own_ranks_.end()) return known->second;
    std::int64_t own = -1;
    for (const auto& [index, rank] : members_[std::string(group)])
      if (rank == facts_.rank) own = index;
    return own_ranks_[std::string(group)] = own;
  }

  void note_pid(std::int64_t pid) {
    if (pid == last_pid_) return;
    last_pid_ = pid;
    if (std::find(facts_.pids.begin(), facts_.pids.end(), pid) == facts_.pids.end()) facts_.pids.push_back(pid);
  }

  void note_time(const ReadEvent& e) {
    if (e.phase == "M") return;
    const std::int64_t end = bounded_sum(e.ts_ns, e.has_duration ? std::max<std::int64_t>(e.duration_ns, 0) : 0);
    if (!has_time_) facts_.first_ns = e.ts_ns;
    facts_.first_ns = std::min(facts_.first_ns, e.ts_ns);
    facts_.last_ns = has_time_ ? std::max(facts_.last_ns, end) : end;
    has_time_ = true;
  }

  void complete(const ReadEvent& e, std::uint64_t place) {
    if (e.name.starts_with("MPI_")) {
      mpi(e, place);
    } else if (const std::int64_t sequence = integer_arg(e, "Seq", -1); e.category == "kernel" && sequence >= 0) {
      const std::string_view collective = text_arg(e, "Collective name");
      if (!collective_family(collective).waits_for_all) return;
      std::uint64_t key = mixed(mixed(kKeyStart, "device"), text_arg(e, "Process Group Name"));
      key = mixed(mixed(key, text_arg(e, "Process Group Ranks")), collective);
      add_meeting(e, mixed(key, sequence), place);
    } else if (const std::string_view role = text_arg(e, "rpc"); !role.empty()) {
      rpc(e, role, place);
    } else {
      torch_.slice(e, place);
    }
  }

  void add_meeting(const ReadEvent& e, std::uint64_t key, std::uint64_t place) {
    facts_.meetings.push_back({key, e.ts_ns, bounded_sum(e.ts_ns, e.duration_ns), place, false});
  }

  void mpi(const ReadEvent& e, std::uint64_t place) {
    const std::string_view comm = text_arg(e, "comm id");
    if (comm.empty() || !is_whole(e)) return;
    if (const std::int64_t sequence = integer_arg(e, "Seq", -1); sequence >= 0) {
      if (integer_arg(e, "Group size", 0) > 1 && waits_for_all(e))
        add_meeting(e, mixed(mixed(mixed(kKeyStart, comm), e.name), sequence), place);
      return;
    }
    if (is_send(e.name)) {
      if (Channel* const channel = find(comm, integer_arg(e, "dest", -1), integer_arg(e, "tag", -1), true))
        channel->sent.push_back({static_cast<std::uint64_t>(e.ts_ns), e.ts_ns, place});
    }
    if (e.name == "MPI_Recv" || e.name == "MPI_Sendrecv") {
      const std::int64_t tag = integer_arg(e, e.name == "MPI_Recv" ? "tag" : "recv tag", -1);
      if (Channel* const channel = find(comm, integer_arg(e, "source", -1), tag, false))
        channel->received.push_back({static_cast<std::uint64_t>(e.ts_ns), bounded_sum(e.ts_ns, e.duration_ns), place});
    }
  }

  Channel* find(std::string_view comm, std::int64_t peer, std::int64_t tag, bool sends) {
    const std::int64_t own = own_rank_in(comm);
    if (own < 0 || peer < 0 || tag < 0) return nullptr;
    std::uint64_t key = mixed(kKeyStart, comm);
    key = mixed(mixed(key, sends ? own : peer), sends ? peer : own);
    return &facts_.channels[mixed(key, tag)];
  }

  void rpc(const ReadEvent& e, std::string_view role, std::uint64_t place) {
    const std::uint64_t key = rpc_key(e);
    if (key == 0) return;
    if (role == "sent") facts_.requests.push_back({key, e.ts_ns, place});
    if (role == "served") {
      facts_.served.push_back({key, e.ts_ns, place});
      facts_.served_until.push_back({key, bounded_sum(e.ts_ns, e.duration_ns), place});
    }
  }
  static std::uint64_t rpc_key(const ReadEvent& e) {
    const std::int64_t id = integer_arg(e, "id", -1);
    const std::string_view from = text_arg(e, "from");
    return id < 0 || from.empty() ? 0 : mixed(mixed(mixed(kKeyStart, "rpc"), from), id);
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
      Channel* const channel =
          find(text_arg(e, "comm id"), integer_arg(e, "source", -1), integer_arg(e, "tag", -1), false);
      if (channel != nullptr) open_[e.id] = {channel, 0, e.ts_ns};
    } else if (text_arg(e, "rpc") == "request") {
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
      facts_.answers.push_back({open.key, e.ts_ns, place});
    }
  }

  MergeFacts& facts_;
  std::string group_;
  std::unordered_map<std::string, std::vector<std::pair<std::int64_t, std::int64_t>>> members_;
  std::unordered_map<std::string, std::int64_t> own_ranks_;
  std::unordered_map<std::int64_t, Open> open_;  // async slices, by id
  std::optional<std::int64_t> last_pid_;
  bool has_time_ = false;
  TorchMeetings torch_;
  bool lossy_ = false;
};

/// Microseconds since the epoch, as Kineto wrote them before it had a base: after 2001, and no clock that began at
/// boot.
bool is_time_of_day(std::int64_t ns) { return ns > 1'000'000'000'000'000'000; }

}  // namespace

bool is_whole(const ReadEvent& event) {
  return find_arg(event, "failed") == nullptr && find_arg(event, "finished") == nullptr;
}

MergeFacts gather_facts(const std::string& path) {
  MergeFacts facts;
  facts.path = path;
  Reader reader(facts);
  TraceVisitor visitor;
  visitor.metadata = [&](std::string_view key, std::string_view json, bool) { reader.metadata(key, json); };
  visitor.event = [&](const ReadEvent& event) {
    reader.event(event);
    return true;
  };
  const ReadResult read = read_trace(path, visitor);
  facts.truncated = read.truncated;
  facts.error = read.useless();
  reader.finish();
  facts.first_ns = bounded_sum(facts.first_ns, 0);
  facts.last_ns = bounded_sum(facts.last_ns, 0);
  if (!facts.has_wall_clock) facts.has_wall_clock = is_time_of_day(facts.first_ns);
  return facts;
}

}  // namespace profshim::analysis_detail
