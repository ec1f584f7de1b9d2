#include "arrows.h"

#include <algorithm>
#include <unordered_map>

namespace profshim::analysis_detail {
namespace {

/// If more ranks waited in a collective, only the first to enter gets an arrow.
constexpr std::size_t kArrowsToAll = 8;

class Arrows {
 public:
  Arrows(const std::vector<RankTrace>& traces, const std::vector<ClockMap>& clocks, MergeResult& result)
      : traces_(traces), clocks_(clocks), result_(result), ends_(traces.size()) {}

  std::vector<std::vector<ArrowEnd>> find() {
    messages();
    requests();
    collectives();
    for (auto& ends : ends_)
      std::sort(ends.begin(), ends.end(), [](const auto& a, const auto& b) { return a.event < b.event; });
    return std::move(ends_);
  }

 private:
  struct Place {
    std::size_t file;
    std::uint64_t event;
    std::int64_t at_ns;
  };

  void add(const Place& from, const Place& to, ArrowEnd::Kind kind) {
    ++last_;
    ends_[from.file].push_back({from.event, last_, from.at_ns, true, kind});
    ends_[to.file].push_back({to.event, last_, to.at_ns, false, kind});
  }

  // Viewers do not bind an arrow at the end of a slice.
  static std::int64_t inside(std::int64_t begin_ns, std::int64_t end_ns) { return std::max(begin_ns, end_ns - 1); }

  void messages() {
    std::unordered_map<std::uint64_t, std::pair<std::size_t, const Channel*>> receivers;
    for (std::size_t file = 0; file < traces_.size(); ++file) {
      for (const auto& [key, channel] : traces_[file].channels)
        if (!channel.received.empty()) receivers[key] = {file, &channel};
    }
    for (std::size_t file = 0; file < traces_.size(); ++file) {
      for (const auto& [key, channel] : traces_[file].channels) {
        if (channel.sent.empty()) continue;
        const auto at = receivers.find(key);
        const bool known = at != receivers.end() && at->second.second->received.size() == channel.sent.size();
        if (!known) {
          // Messages to a rank without a trace, or without receives in this channel, do not count as left out.
          if (at != receivers.end()) result_.messages_left_out += channel.sent.size();
          continue;
        }
        const std::vector<Endpoint>& received = at->second.second->received;
        for (std::size_t i = 0; i < received.size(); ++i) {
          add({file, channel.sent[i].event, channel.sent[i].at_ns},
              {at->second.first, received[i].event, received[i].at_ns - 1}, ArrowEnd::Kind::kMessage);
        }
        result_.messages += received.size();
      }
    }
  }

  void requests() {
    std::unordered_map<std::uint64_t, Place> served;
    for (std::size_t file = 0; file < traces_.size(); ++file) {
      for (const Endpoint& e : traces_[file].served) served[e.key] = {file, e.event, e.at_ns};
    }
    for (std::size_t file = 0; file < traces_.size(); ++file) {
      for (const Endpoint& e : traces_[file].requests) {
        const auto at = served.find(e.key);
        if (at == served.end()) continue;
        add({file, e.event, e.at_ns}, at->second, ArrowEnd::Kind::kRequest);
        ++result_.requests;
      }
    }
  }

  /// One rank's call of a collective.
  struct Member {
    std::uint64_t key;
    std::int64_t begin_ns;  // on the common clock
    std::uint32_t file, sync_point;
  };
  const SyncPoint& sync_point_of(const Member& m) const { return traces_[m.file].sync_points[m.sync_point]; }

  void collectives() {
    std::vector<Member> members;
    std::size_t count = 0;
    for (const RankTrace& f : traces_) count += f.sync_points.size();
    members.reserve(count);
    for (std::uint32_t file = 0; file < traces_.size(); ++file) {
      const std::vector<SyncPoint>& sync_points = traces_[file].sync_points;
      for (std::uint32_t i = 0; i < sync_points.size(); ++i)
        members.push_back({sync_points[i].key, clocks_[file](sync_points[i].begin_ns), file, i});
    }
    std::sort(members.begin(), members.end(), [](const Member& a, const Member& b) {
      return a.key != b.key ? a.key < b.key : a.begin_ns < b.begin_ns;
    });
    for (auto begin = members.begin(); begin != members.end();) {
      const auto end = std::find_if(begin, members.end(), [&](const Member& m) { return m.key != begin->key; });
      if (end - begin > 1) collective({begin, end});
      begin = end;
    }
  }

  void collective(std::span<const Member> members) {
    const bool seen = std::all_of(members.begin(), members.end(),
                                  [this](const Member& m) { return sync_point_of(m).event != kNoEvent; });
    if (!seen) return;
    const Member& last = members.back();
    const std::size_t arrows = members.size() - 1 > kArrowsToAll ? 1 : members.size() - 1;
    for (const Member& m : members.first(arrows)) {
      const SyncPoint &came = sync_point_of(last), &waited = sync_point_of(m);
      add({last.file, came.event, came.begin_ns}, {m.file, waited.event, inside(waited.begin_ns, waited.end_ns)},
          ArrowEnd::Kind::kCollective);
    }
    ++result_.collectives;
  }

  const std::vector<RankTrace>& traces_;
  const std::vector<ClockMap>& clocks_;
  MergeResult& result_;
  std::vector<std::vector<ArrowEnd>> ends_;
  std::uint64_t last_ = 0;
};

}  // namespace

std::string_view name_of(ArrowEnd::Kind kind) {
  switch (kind) {
    case ArrowEnd::Kind::kMessage:
      return "message";
    case ArrowEnd::Kind::kRequest:
      return "rpc";
    default:
      return "collective";
  }
}

std::vector<std::vector<ArrowEnd>> find_arrows(const std::vector<RankTrace>& traces,
                                               const std::vector<ClockMap>& clocks, MergeResult& result) {
  return Arrows(traces, clocks, result).find();
}

}  // namespace profshim::analysis_detail
