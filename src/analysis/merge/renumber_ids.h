#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "profshim/analysis/merge.h"
#include "rank_trace.h"

namespace profshim::analysis_detail {

struct Renumbering {
  std::unordered_map<std::int64_t, std::int64_t> pids;
  /// Added to all ids of the trace except hashes: a launch's correlation stays equal to its flow's id.
  std::int64_t added = 0;
  std::uint64_t file = 0;

  std::int64_t id(std::int64_t id) const;
};

/// Sets MergedRank::first_pid, and `next_id` to the first free id.
std::vector<Renumbering> renumber(const std::vector<RankTrace>& traces, std::vector<MergedRank>& ranks,
                                  std::int64_t& next_id);

/// Makes tids unique: some readers identify a thread by its tid alone.
class ThreadNumbers {
 public:
  std::int64_t number_of(std::int64_t pid, std::int64_t tid);

 private:
  std::int64_t other(std::int64_t pid, std::int64_t tid);
  std::unordered_map<std::int64_t, std::int64_t> owners_;  // tid -> pid of the process that keeps it
  std::unordered_map<std::int64_t, std::unordered_map<std::int64_t, std::int64_t>> others_;
  std::int64_t next_ = 100'000'000;  // above any tid of Linux (at most 4,194,304)
  std::int64_t last_pid_ = -1, last_tid_ = -1, last_ = -1;
};

}  // namespace profshim::analysis_detail
