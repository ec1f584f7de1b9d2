// Numbers of several traces in one: processes, threads, and the ids that join events, so that none means two things.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "profshim/analysis/merge.h"
#include "rank_trace.h"

namespace profshim::analysis_detail {

/// Of one file in the merged one.
struct Renumbering {
  std::unordered_map<std::int64_t, std::int64_t> pids;
  /// Added to correlation ids, External ids and ids of flows alike: those of a launch and of its arrow are equal.
  std::int64_t added = 0;
  std::uint64_t file = 0;

  std::int64_t id(std::int64_t id) const;
};

/// For each file; fills in MergedRank::first_pid. `next_id`: from there on ids are free.
std::vector<Renumbering> renumber(const std::vector<RankTrace>& traces, std::vector<MergedRank>& ranks,
                                  std::int64_t& next_id);

/// Readers differ in whether a thread's number is its process's own affair: no two processes have one in common.
class ThreadNumbers {
 public:
  std::int64_t of(std::int64_t pid, std::int64_t tid);

 private:
  std::int64_t other(std::int64_t pid, std::int64_t tid);
  std::unordered_map<std::int64_t, std::int64_t> owners_;  // the process that has a number
  std::unordered_map<std::int64_t, std::unordered_map<std::int64_t, std::int64_t>> others_;
  std::int64_t next_ = 100'000'000;  // above any that a system gives
  std::int64_t last_pid_ = -1, last_tid_ = -1, last_ = -1;
};

}  // namespace profshim::analysis_detail
