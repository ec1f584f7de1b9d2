#include "profshim/run/manifest.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>

#include "fuzz/manifest_fuzz.h"
#include "profshim/spool/format.h"

namespace profshim::run {
namespace {

TEST(Manifest, FilesOutsideItsFolderAreNotNamed) {
  Manifest manifest;

  ASSERT_TRUE(parse_manifest(R"({"windows":[{"file":"/etc/passwd"},{"file":"a/../../b"},{"file":".."},
                                 {"file":"a\u0000b"},{"file":"step1/a..b.json","stacks":"../s.txt"}]})",
                             manifest));

  ASSERT_EQ(manifest.windows.size(), 5u);
  for (std::size_t i = 0; i < 4; ++i) EXPECT_EQ(manifest.windows[i].file, "");
  EXPECT_EQ(manifest.windows[4].file, "step1/a..b.json");
  EXPECT_EQ(manifest.windows[4].stacks, "");
}

TEST(Manifest, NumbersThatAreNoRankAreUnknown) {
  Manifest manifest;

  ASSERT_TRUE(parse_manifest(R"({"rank": 4294967296, "pid": 1e3, "world_size": "4"})", manifest));

  EXPECT_EQ(manifest.rank.rank, -1);
  EXPECT_EQ(manifest.pid, 0);
  EXPECT_EQ(manifest.rank.world_size, -1);
}

TEST(Manifest, IsWrittenWithALineForEachMember) {
  Manifest manifest;
  manifest.rank.rank = 1;
  manifest.rank.world_size = 2;
  manifest.rank.host = "node\xff";
  manifest.pid = 7;
  manifest.state = "save";
  manifest.windows.push_back({.file = "a.json", .bytes = 5, .status = "written"});
  manifest.problems = {"lost \"x\""};

  const std::string text = manifest_text(manifest);

  EXPECT_EQ(
      text,
      "{\n \"format\": 1,\n \"rank\": 1,\n \"world_size\": 2,\n \"host\": \"node\xff\",\n \"pid\": 7,\n"
      " \"run_name\": \"\",\n \"state\": \"save\",\n \"spec_hash\": \"\",\n \"step_source\": \"\",\n"
      " \"steps_seen\": 0,\n \"spool\": \"\",\n \"updated_ns\": 0,\n \"windows\": [\n  {\n   \"window\": 0,\n"
      "   \"first_step\": 0,\n   \"last_step\": -1,\n   \"file\": \"a.json\",\n   \"bytes\": 5,\n"
      "   \"events\": 0,\n   \"dropped_events\": 0,\n   \"status\": \"written\",\n   \"complete\": true,\n"
      "   \"truncated\": false,\n   \"recovered\": false\n  }\n ],\n \"problems\": [\n  \"lost \\\"x\\\"\"\n ]\n}\n");
  Manifest again;
  ASSERT_TRUE(parse_manifest(text, again));
  EXPECT_EQ(again.rank.host, "node\xff");
}

TEST(Manifest, KeepsWhatFinishedTheRun) {
  Manifest manifest, again;
  manifest.rank.local_rank = 3;
  manifest.rank.node_rank = 2;
  manifest.removed_traces = 4;
  manifest.finish = "failed: exit status 1";
  manifest.windows.push_back({.file = "a.json", .status = "written", .awaits_finish = true});

  ASSERT_TRUE(parse_manifest(manifest_text(manifest), again));

  EXPECT_EQ(again.rank.local_rank, 3);
  EXPECT_EQ(again.rank.node_rank, 2);
  EXPECT_EQ(again.removed_traces, 4);
  EXPECT_EQ(again.finish, "failed: exit status 1");
  EXPECT_TRUE(again.windows.at(0).awaits_finish);
}

TEST(Manifest, KeepsWhatIsMissingInAWindow) {
  Manifest manifest, again;
  manifest.windows.push_back(
      {.file = "a.json", .status = "written", .complete = false, .missing = {"3 events are missing", "a \"b\""}});

  ASSERT_TRUE(parse_manifest(manifest_text(manifest), again));

  EXPECT_EQ(again.windows.at(0).missing, manifest.windows[0].missing);
}

TEST(WindowCounts, AskedIsTheSumOfTheOthers) {
  std::vector<char> memory(sizeof(spool::SpoolHeader));
  auto& header = *new (memory.data()) spool::SpoolHeader{};
  header.windows = 20;
  for (std::size_t i = 0; i < kLostWindowReasons; ++i) header.windows_lost[i] = i + 1;
  Manifest manifest, again;
  WindowCounts& counts = manifest.counts;
  counts.written = 9;
  counts.empty = 2;
  counts.discarded = 1;
  counts.failed = 3;

  counts.update(header);

  EXPECT_EQ(counts.waiting, 5u);
  EXPECT_EQ(counts.all_lost(), 10u);
  EXPECT_EQ(counts.asked, 30u);
  ASSERT_TRUE(parse_manifest(manifest_text(manifest), again));
  EXPECT_EQ(again.counts.asked, 30u);
  EXPECT_EQ(again.counts.lost, counts.lost);
  EXPECT_EQ(again.counts.loss_text(), counts.loss_text());
  EXPECT_TRUE(counts.loss_text().starts_with("9 of 30 windows written; 1 lost because the writer was behind"))
      << counts.loss_text();
}

TEST(WindowCounts, SayNothingIfNoWindowIsLost) {
  WindowCounts counts;
  counts.asked = counts.written = 12;

  EXPECT_EQ(counts.loss_text(), "");
}

TEST(WindowCounts, SayThatWindowsWaitOnceTheJobHasEnded) {
  WindowCounts counts;
  counts.asked = 12;
  counts.written = 5;
  counts.waiting = 7;

  EXPECT_EQ(counts.loss_text(), "");
  EXPECT_EQ(counts.loss_text(true), "5 of 12 windows written; 7 not written before the job ended (profshim recover)");
}

TEST(ManifestFuzzCorpus, EveryFilePasses) {
  int files = 0;
  for (const auto& entry :
       std::filesystem::directory_iterator(std::string(PROFSHIM_SOURCE_DIR) + "/tests/fuzz/corpus/manifest")) {
    SCOPED_TRACE(entry.path());
    std::ifstream file(entry.path(), std::ios::binary);
    const std::string bytes{std::istreambuf_iterator<char>(file), {}};

    test::fuzz_manifest(bytes);

    ++files;
  }
  EXPECT_GT(files, 8);
}

}  // namespace
}  // namespace profshim::run
