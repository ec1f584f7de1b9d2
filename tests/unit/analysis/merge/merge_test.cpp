#include "profshim/analysis/merge.h"

#include <gtest/gtest.h>

#include <fstream>
#include <set>

#include "profshim/trace/metadata.h"
#include "profshim/trace/reader.h"
#include "unit/temporary_folder.h"

namespace profshim {
namespace {

class MergeTest : public testing::Test {
 protected:
  std::string file(const std::string& name, const std::string& text) {
    const std::string path = folder_.path() + "/" + name;
    std::ofstream(path) << text;
    paths_.push_back(path);
    return path;
  }
  MergeResult merge(ClockSync sync = ClockSync::kCollective) {
    MergeOptions options;
    options.paths = paths_;
    options.out = folder_.path() + "/out.pt.trace.json";
    options.sync = sync;
    MergeResult result = merge_traces(options);
    if (result.error.empty()) {
      TraceVisitor visitor;
      visitor.metadata = [this](std::string_view key, std::string_view json, bool) { metadata_.read(key, json); };
      visitor.event = [this](const ReadEvent& e) {
        events_.push_back({std::string(e.name), e.pid, e.tid, e.id, e.ts_ns, {}});
        for (const auto& arg : e.args) events_.back().args[std::string(arg.key)] = arg.text;
        return true;
      };
      EXPECT_TRUE(read_trace(options.out, visitor).ok);
    }
    return result;
  }
  struct Seen {
    std::string name;
    std::int64_t pid, tid, id, ts_ns;
    std::map<std::string, std::string> args;
  };

  test::TemporaryFolder folder_;
  std::vector<std::string> paths_;
  std::vector<Seen> events_;
  TraceMetadata metadata_;
};

std::string trace(int rank, const std::string& events) {
  return R"({"distributedInfo": {"rank": )" + std::to_string(rank) +
         R"(, "world_size": 2}, "baseTimeNanoseconds": 1790857026000000000, "traceEvents": [)" + events + "]}";
}

TEST_F(MergeTest, NumbersOfRanksStayApartAndArgsAreKept) {
  const std::string events =
      R"({"ph":"X","cat":"kernel","name":"k","pid":0,"tid":7,"ts":10.5,"dur":1,
          "args":{"correlation":12,"External id":3,"grid":[1,2],"x":1e-3,"null":null,"big":18446744073709551615}},
         {"ph":"X","cat":"python_function","name":"f","pid":4321,"tid":9,"ts":10,"dur":2},
         {"ph":"s","cat":"ac2g","name":"ac2g","id":12,"pid":4321,"tid":9,"ts":10},
         {"ph":"b","cat":"c","name":"text id","id":"0xab","pid":4321,"tid":9,"ts":10})";
  file("a.json", trace(0, events));
  file("b.json", trace(1, events));

  const MergeResult result = merge(ClockSync::kAnchors);

  ASSERT_EQ(result.error, "");
  ASSERT_EQ(events_.size(), 8u);
  std::set<std::string> correlations, externals;
  std::set<std::int64_t> pids, ids;
  std::map<std::int64_t, std::set<std::int64_t>> owners;
  for (const Seen& e : events_) {
    owners[e.tid].insert(e.pid);
    pids.insert(e.pid);
    if (e.id != 0) ids.insert(e.id);
    if (e.name != "k") continue;
    correlations.insert(e.args.at("correlation"));
    externals.insert(e.args.at("External id"));
    EXPECT_EQ(e.args.at("grid"), "[1,2]");
    EXPECT_EQ(e.args.at("x"), "1e-3");
    EXPECT_EQ(e.args.at("null"), "null");
    EXPECT_EQ(e.args.at("big"), "18446744073709551615");
  }
  EXPECT_EQ(pids, (std::set<std::int64_t>{0, 64, 1000, 1064}));
  EXPECT_EQ(correlations.size(), 2u);
  EXPECT_EQ(externals.size(), 2u);
  EXPECT_EQ(ids.size(), 4u);
  for (const auto& [tid, pids_of] : owners) EXPECT_EQ(pids_of.size(), 1u) << tid;
}

TEST_F(MergeTest, ImpossibleTimesDoNoHarm) {
  file("a.json", trace(0, R"({"ph":"X","cat":"c","name":"a","pid":1,"tid":1,"ts":9e300,"dur":9e300},
                             {"ph":"X","cat":"c","name":"b","pid":1,"tid":1,"ts":-9e300,"dur":-5})"));
  file("b.json", trace(1, R"({"ph":"X","cat":"c","name":"a","pid":-9223372036854775808,"tid":9223372036854775807,
                              "ts":0,"dur":1,"args":{"correlation":9223372036854775807}})"));
  EXPECT_EQ(merge().error, "");
  EXPECT_EQ(events_.size(), 3u);
}

TEST_F(MergeTest, EventsOfAnyPhaseAndProcessAreKept) {
  const std::string events =
      R"({"ph":"X","cat":"c","name":"a","pid":-1,"tid":-1,"ts":1,"dur":1},{"ph":"t","id":5,"pid":-1,"tid":-1,"ts":1},
         {"ph":"n","cat":"c","id":6,"name":"n","pid":-1,"tid":-1,"ts":1})";
  file("a.json", trace(0, events));
  file("b.json", trace(1, events));
  EXPECT_EQ(merge().error, "");
  ASSERT_EQ(events_.size(), 6u);
  EXPECT_EQ(events_[1].id, 5);
  EXPECT_EQ(events_[2].id, 6);
  EXPECT_GT(events_[4].id, 6);
}

TEST_F(MergeTest, KeepsADeviceOfEachId) {
  const auto with_devices = [](int rank, const std::string& devices) {
    return R"({"deviceProperties": )" + devices +
           trace(rank, R"({"ph":"X","cat":"c","name":"a","pid":1,"tid":1,"ts":1,"dur":1})").replace(0, 1, ", ");
  };
  file("a.json", with_devices(0, R"([{"id": 1, "name": "a1"}])"));
  file("b.json", with_devices(1, R"([{"id": 0, "name": "b0"}, {"id": 1, "name": "b1"}])"));

  EXPECT_EQ(merge(ClockSync::kAnchors).error, "");
  EXPECT_EQ(metadata_.devices, (std::vector<std::string>{R"({"id":0,"name":"b0"})", R"({"id":1,"name":"a1"})"}));
}

TEST_F(MergeTest, RanksOfDifferentJobsAreRefused) {
  file("a.json", trace(0, R"({"ph":"X","cat":"c","name":"a","pid":1,"tid":1,"ts":1,"dur":1})"));
  file("b.json", R"({"distributedInfo": {"rank": 1, "world_size": 8}, "traceEvents": [
                     {"ph":"X","cat":"c","name":"a","pid":1,"tid":1,"ts":1,"dur":1}]})");
  EXPECT_NE(merge().error.find("2 ranks"), std::string::npos);
}

TEST_F(MergeTest, TwoWindowsOfOneProcessAreNoTwoRanks) {
  const auto window = [](const std::string& ts, const std::string& pid) {
    return R"({"traceEvents": [{"ph":"X","cat":"cpu_op","name":"a","pid":)" + pid + R"(,"tid":1,"ts":)" + ts +
           R"(,"dur":5}]})";
  };
  file("a.json", window("100", "7"));
  file("b.json", window("200", "7"));
  EXPECT_NE(merge().error.find("are two windows of one process (pid 7)"), std::string::npos);

  paths_.pop_back();
  file("c.json", window("200", "8"));
  EXPECT_EQ(merge(ClockSync::kNone).error, "");

  // Containers have equal pids.
  paths_.pop_back();
  file("d.json", window("103", "7"));
  EXPECT_EQ(merge(ClockSync::kNone).error, "");
}

TEST_F(MergeTest, RunsOfOneHostAreComparedAcrossOtherHosts) {
  const auto of_run = [](int rank, const std::string& host, const std::string& run) {
    return R"({"distributedInfo": {"rank": )" + std::to_string(rank) + R"(, "world_size": 3}, "host_name": ")" + host +
           R"(", "profshim": {"run_name": ")" + run +
           R"("}, "baseTimeNanoseconds": 1790857026000000000, "traceEvents": [
               {"ph":"X","cat":"c","name":"a","pid":1,"tid":1,"ts":1,"dur":1}]})";
  };
  file("a.json", of_run(0, "one", "monday"));
  file("b.json", of_run(1, "two", "tuesday"));
  EXPECT_EQ(merge(ClockSync::kAnchors).error, "") << "each host makes its own run name";
  file("c.json", of_run(2, "one", "friday"));

  EXPECT_NE(merge(ClockSync::kAnchors).error.find("of run friday"), std::string::npos);
}

}  // namespace
}  // namespace profshim
