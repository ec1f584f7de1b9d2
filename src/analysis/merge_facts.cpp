#include "merge_facts.h"

#include <algorithm>
#include <charconv>
#include <string_view>

namespace profshim::analysis_detail {
namespace {

using Kind = ReadEvent::ReadArg::Kind;

std::uint64_t mixed(std::uint64_t hash, std::string_view text) {
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3ull;
  return (hash ^ 0xff) * 0x100000001b3ull;
}
std::uint64_t mixed(std::uint64_t hash, std::int64_t number) {
  hash ^= static_cast<std::uint64_t>(number) * 0x9e3779b97f4a7c15ull;
  return (hash ^ hash >> 29) * 0xbf58476d1ce4e5b9ull;
}
constexpr std::uint64_t kStart = 0xcbf29ce484222325ull;

class Args {
 public:
  explicit Args(const ReadEvent& event) : args_(event.args) {}
  const ReadEvent::ReadArg* find(std::string_view key) const {
    for (const auto& arg : args_)
      if (arg.key == key) return &arg;
    return nullptr;
  }
  std::string_view text(std::string_view key) const {
    const auto* const arg = find(key);
    return arg != nullptr ? arg->text : std::string_view{};
  }
  std::int64_t number(std::string_view key, std::int64_t otherwise) const {
    const auto* const arg = find(key);
    return arg != nullptr && arg->kind == Kind::kInt ? arg->integer : otherwise;
  }

 private:
  std::span<const ReadEvent::ReadArg> args_;
};

/// Each member's result needs something of every other one, if there is anything to send.
bool waits_for_all(std::string_view function, const Args& args) {
  if (function == "MPI_Barrier") return true;
  constexpr std::string_view kNames[] = {"MPI_Allreduce", "MPI_Allgather", "MPI_Alltoall", "MPI_Reduce_scatter_block"};
  return std::find(std::begin(kNames), std::end(kNames), function) != std::end(kNames) && args.number("count", 0) > 0;
}

/// The same on devices, by PyTorch's names: "allreduce", "_allgather_base", "_reduce_scatter_base", "all_to_all".
bool kernel_waits_for_all(std::string_view collective) {
  return collective.find("allreduce") != std::string_view::npos ||
         collective.find("allgather") != std::string_view::npos ||
         collective.find("reduce_scatter") != std::string_view::npos || collective == "all_to_all";
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
      json_leaves(json, [this](std::string_view path, const ReadEvent::ReadArg& value) {
        if (path == "run_name") facts_.run_name = value.text;
      });
    } else if (key == "deviceProperties") {
      devices(json);
    }
  }

  void event(const ReadEvent& e) {
    const std::uint64_t place = facts_.events++;
    if (e.has_pid && e.pid_is_number) note_pid(e.pid);
    if (e.has_id && (e.id <= kMostCountedId && e.id >= 0)) facts_.most_id = std::max(facts_.most_id, e.id);
    if (!e.has_ts) return;
    note_time(e);
    const Args args(e);
    facts_.most_correlation = std::max(facts_.most_correlation, args.number("correlation", 0));
    facts_.most_external = std::max(facts_.most_external, args.number("External id", 0));
    if (e.phase == "X") {
      complete(e, args, place);
    } else if (e.phase == "b") {
      begins(e, args, place);
    } else if (e.phase == "e") {
      ends(e, place);
    }
  }

  void finish() {
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

  void devices(std::string_view json) {
    // Elements are objects: cut at the commas between them.
    int depth = 0;
    bool in_text = false;
    std::size_t begin = 0;
    for (std::size_t i = 0; i < json.size(); ++i) {
      const char c = json[i];
      if (in_text) {
        if (c == '\\') ++i;
        in_text = c != '"';
      } else if (c == '"') {
        in_text = true;
      } else if (c == '{' && depth++ == 0) {
        begin = i;
      } else if (c == '}' && --depth == 0) {
        facts_.devices.emplace_back(json.substr(begin, i + 1 - begin));
      }
    }
  }

  void note_pid(std::int64_t pid) {
    if (!facts_.pids.empty() && facts_.pids.back() == pid) return;
    if (pid == last_pid_) return;
    last_pid_ = pid;
    if (std::find(facts_.pids.begin(), facts_.pids.end(), pid) == facts_.pids.end()) facts_.pids.push_back(pid);
  }

  void note_time(const ReadEvent& e) {
    if (e.phase == "M") return;
    const std::int64_t end = sum_ns(e.ts_ns, e.has_duration ? std::max<std::int64_t>(e.duration_ns, 0) : 0);
    if (!has_time_) facts_.first_ns = e.ts_ns;
    facts_.first_ns = std::min(facts_.first_ns, e.ts_ns);
    facts_.last_ns = has_time_ ? std::max(facts_.last_ns, end) : end;
    has_time_ = true;
  }

  void complete(const ReadEvent& e, const Args& args, std::uint64_t place) {
    if (e.name.starts_with("MPI_")) {
      mpi(e, args, place);
    } else if (e.category == "kernel") {
      const std::string_view collective = args.text("Collective name");
      const std::int64_t sequence = args.number("Seq", -1);
      if (sequence < 0 || !kernel_waits_for_all(collective)) return;
      std::uint64_t key = mixed(mixed(kStart, "device"), args.text("Process Group Name"));
      key = mixed(mixed(key, args.text("Process Group Ranks")), collective);
      add_meeting(e, mixed(key, sequence), place);
    } else if (const std::string_view role = args.text("rpc"); !role.empty()) {
      rpc(e, args, role, place);
    }
  }

  void add_meeting(const ReadEvent& e, std::uint64_t key, std::uint64_t place) {
    facts_.meetings.push_back({key, e.ts_ns, sum_ns(e.ts_ns, e.duration_ns), place});
  }

  void mpi(const ReadEvent& e, const Args& args, std::uint64_t place) {
    const std::string_view comm = args.text("comm id");
    if (comm.empty() || args.find("failed") != nullptr || args.find("finished") != nullptr) return;
    if (const std::int64_t sequence = args.number("Seq", -1); sequence >= 0) {
      if (args.number("Group size", 0) > 1 && waits_for_all(e.name, args))
        add_meeting(e, mixed(mixed(mixed(kStart, comm), e.name), sequence), place);
      return;
    }
    if (is_send(e.name)) {
      if (Channel* const channel = find(comm, args.number("dest", -1), args.number("tag", -1), true))
        channel->sent.push_back({static_cast<std::uint64_t>(e.ts_ns), e.ts_ns, place});
    }
    if (e.name == "MPI_Recv" || e.name == "MPI_Sendrecv") {
      const std::int64_t tag = args.number(e.name == "MPI_Recv" ? "tag" : "recv tag", -1);
      if (Channel* const channel = find(comm, args.number("source", -1), tag, false))
        channel->received.push_back({static_cast<std::uint64_t>(e.ts_ns), sum_ns(e.ts_ns, e.duration_ns), place});
    }
  }

  Channel* find(std::string_view comm, std::int64_t peer, std::int64_t tag, bool sends) {
    const std::int64_t own = own_rank_in(comm);
    if (own < 0 || peer < 0 || tag < 0) return nullptr;
    std::uint64_t key = mixed(kStart, comm);
    key = mixed(mixed(key, sends ? own : peer), sends ? peer : own);
    return &facts_.channels[mixed(key, tag)];
  }

  void rpc(const ReadEvent& e, const Args& args, std::string_view role, std::uint64_t place) {
    const std::uint64_t key = rpc_key(args);
    if (key == 0) return;
    if (role == "sent") facts_.requests.push_back({key, e.ts_ns, place});
    if (role == "served") {
      facts_.served.push_back({key, e.ts_ns, place});
      facts_.served_until.push_back({key, sum_ns(e.ts_ns, e.duration_ns), place});
    }
  }
  static std::uint64_t rpc_key(const Args& args) {
    const std::int64_t id = args.number("id", -1);
    const std::string_view from = args.text("from");
    return id < 0 || from.empty() ? 0 : mixed(mixed(mixed(kStart, "rpc"), from), id);
  }

  struct Open {
    Channel* channel;
    std::uint64_t key;
    std::int64_t begin_ns;
  };

  void begins(const ReadEvent& e, const Args& args, std::uint64_t) {
    if (args.find("failed") != nullptr || args.find("finished") != nullptr) return;
    if (e.name == "MPI_Irecv") {
      Channel* const channel = find(args.text("comm id"), args.number("source", -1), args.number("tag", -1), false);
      if (channel != nullptr) open_[e.id] = {channel, 0, e.ts_ns};
    } else if (args.text("rpc") == "request") {
      if (const std::uint64_t key = rpc_key(args); key != 0) open_[e.id] = {nullptr, key, e.ts_ns};
    }
  }

  void ends(const ReadEvent& e, std::uint64_t place) {
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
  std::int64_t last_pid_ = -1;
  bool has_time_ = false;
};

/// Microseconds since the epoch, as Kineto wrote them before it had a base: after 2001, and no clock that began at
/// boot.
bool is_time_of_day(std::int64_t ns) { return ns > 1'000'000'000'000'000'000; }

}  // namespace

MergeFacts gather_facts(const std::string& path, const std::function<void(std::uint64_t events)>& on_events) {
  MergeFacts facts;
  facts.path = path;
  Reader reader(facts);
  TraceVisitor visitor;
  visitor.metadata = [&](std::string_view key, std::string_view json, bool) { reader.metadata(key, json); };
  visitor.event = [&](const ReadEvent& event) {
    reader.event(event);
    constexpr std::uint64_t kOften = 16384;
    if (facts.events % kOften == 0 && on_events) on_events(facts.events);
    return true;
  };
  const ReadResult read = read_trace(path, visitor);
  facts.truncated = read.truncated;
  if (!read.ok && !(read.truncated && facts.events > 0)) {
    facts.error = read.error;
  } else if (facts.events == 0) {
    facts.error = "no events in it";
  }
  reader.finish();
  facts.first_ns = sum_ns(facts.first_ns, 0);
  facts.last_ns = sum_ns(facts.last_ns, 0);
  if (!facts.has_wall_clock) facts.has_wall_clock = is_time_of_day(facts.first_ns);
  return facts;
}

}  // namespace profshim::analysis_detail
