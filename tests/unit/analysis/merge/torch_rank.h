#pragma once

#include <gtest/gtest.h>

#include <fstream>
#include <string>
#include <vector>

#include "analysis/merge/rank_trace.h"
#include "profshim/analysis/merge.h"
#include "unit/analysis/hand_made.h"
#include "unit/temporary_folder.h"

namespace profshim::analysis_detail::test {

inline const std::string kOneGroup = R"([{"pg_name": "0", "pg_size": 2, "ranks": [0, 1]}])";

inline std::string arg(const std::string& key, const std::string& text) { return "\"" + key + "\": \"" + text + "\""; }
inline std::string arg(const std::string& key, std::int64_t number) {
  return "\"" + key + "\": " + std::to_string(number);
}

/// Times are in microseconds on the common clock.
class Rank {
 public:
  Rank& step(std::int64_t number, double begin, double end) {
    events_.push_back({"user_annotation", "ProfilerStep#" + std::to_string(number), begin, end - begin});
    return *this;
  }
  Rank& gloo(const std::string& function, double begin, double end, const std::string& dims = "[[4]]", int tid = 1) {
    return call("c10d::" + function, begin, "\"Input Dims\": [" + dims + "]", tid).work(function, begin + 6, end);
  }
  Rank& call(const std::string& name, double begin, const std::string& args, int tid = 1) {
    events_.push_back({"cpu_op", name, begin, 5, tid, args});
    return *this;
  }
  Rank& work(const std::string& function, double begin, double end) {
    events_.push_back({"user_annotation", "gloo:" + spelled(function), begin, end - begin, 90});
    return *this;
  }
  Rank& in_group(const std::string& group, const std::string& ranks, double begin, double end, int size = 2) {
    return call("record_param_comms", begin,
                arg("Collective name", "allreduce") + ", " + arg("Process Group Name", group) + ", " +
                    arg("Process Group Ranks", ranks) + ", " + arg("Group size", size))
        .work("allreduce_", begin + 6, end);
  }
  Rank& nccl(int id, double called, double begin, double end, std::int64_t elements = 100) {
    const std::string args = arg("External id", id) + ", " + arg("Collective name", "_allgather_base") + ", " +
                             arg("In msg nelems", elements) + ", " + arg("Out msg nelems", 2 * elements) + ", " +
                             arg("Group size", 2) + ", " + arg("dtype", "Float") + ", " +
                             arg("Process Group Name", "0") + ", " + arg("Process Group Ranks", "[0, 1]");
    call("record_param_comms", called, args);
    return event({"kernel", "ncclDevKernel_AllGather_RING_LL", begin, end - begin, 7, args});
  }
  Rank& event(const HandEvent& e) {
    events_.push_back(e);
    return *this;
  }
  Rank& groups(const std::string& json) {
    groups_ = json;
    return *this;
  }
  Rank& members(const std::string& json) {
    members_ = json;
    return *this;
  }

  Rank& host(const std::string& name) {
    host_ = name;
    return *this;
  }

  std::string json(int rank, double clock_us) const {
    std::string text = R"({"distributedInfo": {"rank": )" + std::to_string(rank) +
                       R"(, "world_size": 2, "pg_config": )" + groups_ + R"(}, "host_name": ")" +
                       (host_.empty() ? "host" + std::to_string(rank) : host_) + R"(", )" + members_ +
                       R"("baseTimeNanoseconds": 1790857026000000000, "traceEvents": [)";
    for (const HandEvent& e : events_) {
      HandEvent shown = e;
      shown.ts += clock_us;
      text += (text.back() == '[' ? "" : ", ") + json_of(shown);
    }
    return text + "]}";
  }

 private:
  static std::string spelled(const std::string& function) {
    if (function == "allgather_") return "all_gather";
    return function == "barrier" ? "barrier" : function == "broadcast_" ? "broadcast" : "all_reduce";
  }
  std::vector<HandEvent> events_;
  std::string groups_ = kOneGroup, members_, host_;
};

class MergeTorchTest : public testing::Test {
 protected:
  /// Merges both ranks and returns the second. The second rank's clock is 500 ms behind.
  MergedRank merge(const Rank& a, const Rank& b) {
    MergeOptions options;
    options.out = folder_.path() + "/out.pt.trace.json";
    options.paths = {write(a.json(0, 1e6)), write(b.json(1, 1e6 - kBehind_us))};
    result_ = merge_traces(options);
    EXPECT_EQ(result_.error, "");
    if (!result_.error.empty()) return {};
    const MergedRank& rank = result_.ranks[1];
    if (rank.clock == "collectives") {
      EXPECT_NEAR(rank.offset_us, kBehind_us, rank.error_us);
    }
    return rank;
  }
  std::string write(const std::string& text) {
    const std::string path = folder_.path() + "/" + std::to_string(files_++) + ".json";
    std::ofstream(path) << text;
    return path;
  }
  void expect_no_match(const Rank& a, const Rank& b) {
    const MergedRank rank = merge(a, b);
    EXPECT_EQ(rank.clock, "anchors");
    EXPECT_EQ(rank.moments, 0u);
  }
  void expect_matches(const Rank& a, const Rank& b, std::uint64_t times) {
    const MergedRank rank = merge(a, b);
    EXPECT_EQ(rank.clock, times > 0 ? "collectives" : "anchors");
    EXPECT_EQ(rank.moments, 2 * times);
  }

  static constexpr double kBehind_us = 500'000;
  profshim::test::TemporaryFolder folder_;
  int files_ = 0;
  MergeResult result_;
};

}  // namespace profshim::analysis_detail::test
