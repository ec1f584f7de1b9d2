#include "renumber_ids.h"

#include <algorithm>

namespace profshim::analysis_detail {

std::int64_t Renumbering::id(std::int64_t id) const {
  if (id >= 0 && id <= kMostCountedId) return id + added;
  // `id` is the hash of a text. Readers keep ids as doubles: the new id must stay below 2^53.
  constexpr std::int64_t kExact = std::int64_t{1} << 52;
  const std::uint64_t hash = (static_cast<std::uint64_t>(id) ^ file * 0x9e3779b97f4a7c15ull) * 0xbf58476d1ce4e5b9ull;
  return static_cast<std::int64_t>(hash >> 12) | kExact;
}

namespace {

/// Readers take smaller pids for GPUs.
constexpr std::int64_t kFirstHostPid = 64;

}  // namespace

std::vector<Renumbering> renumber(const std::vector<RankTrace>& traces, std::vector<MergedRank>& ranks,
                                  std::int64_t& next_id) {
  constexpr std::int64_t kRoundly = 1000;
  std::size_t most = 0;
  for (const RankTrace& f : traces) most = std::max(most, f.pids.size());
  const std::int64_t apart = (static_cast<std::int64_t>(most) + kFirstHostPid + kRoundly - 1) / kRoundly * kRoundly;
  const bool all_have_ranks = traces.back().metadata.rank >= 0;
  std::vector<Renumbering> all(traces.size());
  std::int64_t added = 0;
  for (std::size_t i = 0; i < traces.size(); ++i) {
    all[i].file = i;
    all[i].added = added;
    ranks[i].first_pid = (all_have_ranks ? traces[i].metadata.rank : static_cast<std::int64_t>(i)) * apart;
    std::int64_t next_host = ranks[i].first_pid + kFirstHostPid;
    for (const std::int64_t pid : traces[i].pids) {
      const bool is_gpu = pid >= 0 && pid < kFirstHostPid;
      all[i].pids[pid] = is_gpu ? ranks[i].first_pid + pid : next_host++;
    }
    const std::int64_t largest = std::max({traces[i].most_correlation, traces[i].most_external, traces[i].most_id});
    added = bounded_sum(added, bounded_sum(largest, 1));
  }
  next_id = added;
  return all;
}

std::int64_t ThreadNumbers::number_of(std::int64_t pid, std::int64_t tid) {
  if (pid == last_pid_ && tid == last_tid_) return last_;
  const auto [owner, is_new] = owners_.try_emplace(tid, pid);
  last_pid_ = pid;
  last_tid_ = tid;
  return last_ = owner->second == pid ? tid : other(pid, tid);
}

std::int64_t ThreadNumbers::other(std::int64_t pid, std::int64_t tid) {
  const auto [place, is_new] = others_[pid].try_emplace(tid, 0);
  if (is_new) {
    do {
      place->second = next_++;
    } while (!owners_.try_emplace(place->second, pid).second);
  }
  return place->second;
}

}  // namespace profshim::analysis_detail
