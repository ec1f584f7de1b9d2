#include "profshim/trace/metadata.h"

#include <gtest/gtest.h>

namespace profshim {
namespace {

TraceMetadata metadata_of(std::string_view key, std::string_view json) {
  TraceMetadata metadata;
  metadata.read(key, json);
  return metadata;
}

std::int64_t base_time(std::string_view json) { return metadata_of("baseTimeNanoseconds", json).base_time_ns; }

TEST(TraceMetadata, TakesOnlyPossibleBaseTimes) {
  EXPECT_EQ(base_time("1711964646000000000"), 1711964646000000000);
  EXPECT_EQ(base_time("3000000000000000000"), TraceMetadata::kMaxNs);
  for (const char* const json :
       {"0", "-5", "3000000000000000001", "99999999999999999999", "1.5e18", "\"17\"", "null", "[17, \"x\"]", "17x", ""})
    EXPECT_EQ(base_time(json), 0) << json;
}

TEST(TraceMetadata, ReadsDistributedInfo) {
  const TraceMetadata metadata =
      metadata_of("distributedInfo",
                  R"({"backend": "nccl", "rank": 3, "world_size": 8, "pg_config": [)"
                  R"({"ranks": [0, 3], "pg_name": "0", "pg_size": 2}, {"pg_name": "1", "pg_size": 8, "ranks": []}]})");

  EXPECT_EQ(metadata.rank, 3);
  EXPECT_EQ(metadata.world_size, 8);
  EXPECT_EQ(metadata.backend, "nccl");
  ASSERT_EQ(metadata.groups.size(), 2u);
  EXPECT_EQ(metadata.groups[0].name, "0");
  EXPECT_EQ(metadata.groups[0].size, 2);
  EXPECT_EQ(metadata.groups[0].ranks, (std::vector<std::int64_t>{0, 3}));
  EXPECT_EQ(metadata.groups[1].name, "1");
  EXPECT_TRUE(metadata.groups[1].ranks.empty());
  EXPECT_FALSE(metadata.groups[0].has_same_members(metadata.groups[1]));
}

TEST(TraceMetadata, LeavesOutImpossibleRanks) {
  const TraceMetadata metadata =
      metadata_of("distributedInfo", R"({"backend": 1, "rank": -2, "world_size": 4294967296})");

  EXPECT_EQ(metadata.rank, -1);
  EXPECT_EQ(metadata.world_size, -1);
  EXPECT_EQ(metadata.backend, "");
}

TEST(TraceMetadata, ReadsTheRecording) {
  const TraceMetadata metadata = metadata_of(
      "profshim",
      R"({"run_name": "a", "command": "b", "spec_hash": "c", "window": 2, "complete": false, "truncated": true, )"
      R"("recovered": true, "dropped_events": 7, "threads_lost": 1, "names_lost": 0, "device": {"lost_in_process": 2}, )"
      R"("steps": {"source": "auto", "first_marker": "m"}, "problems": [{"source": "s", "lost": "x"}]})");

  ASSERT_TRUE(metadata.recording.has_value());
  const RecordingInfo& recording = *metadata.recording;
  EXPECT_EQ(recording.run_name, "a");
  EXPECT_EQ(recording.command, "b");
  EXPECT_EQ(recording.spec_hash, "c");
  EXPECT_EQ(recording.window, 2);
  EXPECT_FALSE(recording.complete);
  EXPECT_TRUE(recording.truncated);
  EXPECT_TRUE(recording.recovered);
  EXPECT_EQ(recording.dropped, 7u);
  EXPECT_EQ(recording.steps_source, "auto");
  EXPECT_EQ(recording.first_step_marker, "m");
  EXPECT_EQ(recording.problems, std::vector<std::string>{"x"});
  const std::vector<std::pair<std::string, std::int64_t>> losses = {{"threads_lost", 1}, {"device.lost_in_process", 2}};
  EXPECT_EQ(recording.losses, losses);
  EXPECT_FALSE(recording.cpu.has_value());
  EXPECT_TRUE(metadata.merged.empty());
}

TEST(TraceMetadata, ReadsTheRanksOfAMergedTrace) {
  const TraceMetadata metadata = metadata_of(
      "profshim",
      R"({"run_name": "a", "merged": [{"rank": 0, "host": "h", "first_pid": 0, "clock": "reference", "offset_us": 0, )"
      R"("error_us": null}, {"rank": 1, "first_pid": 1000, "offset_us": -2.5, "drift_ppm": 0.5, "error_us": 4, )"
      R"("profshim": {"run_name": "b", "dropped_events": 3}}]})");

  ASSERT_EQ(metadata.merged.size(), 2u);
  EXPECT_EQ(metadata.merged[0].host, "h");
  EXPECT_EQ(metadata.merged[0].clock, "reference");
  EXPECT_EQ(metadata.merged[0].error_us, -1);
  EXPECT_FALSE(metadata.merged[0].recording.has_value());
  EXPECT_EQ(metadata.merged[1].rank, 1);
  EXPECT_EQ(metadata.merged[1].first_pid, 1000);
  EXPECT_EQ(metadata.merged[1].offset_us, -2.5);
  EXPECT_EQ(metadata.merged[1].drift_ppm, 0.5);
  EXPECT_EQ(metadata.merged[1].error_us, 4);
  ASSERT_TRUE(metadata.merged[1].recording.has_value());
  EXPECT_EQ(metadata.merged[1].recording->dropped, 3u);
  EXPECT_EQ(metadata.recording->dropped, 0u);
}

}  // namespace
}  // namespace profshim
