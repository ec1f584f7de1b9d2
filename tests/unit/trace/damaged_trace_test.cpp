// Real traces, damaged at random places: all commands read the events that are whole.
#include <gtest/gtest.h>

#include <fstream>
#include <functional>
#include <random>
#include <set>

#include "analysis/model/timeline.h"
#include "profshim/analysis/merge.h"
#include "profshim/convert.h"
#include "profshim/trace/reader.h"
#include "sample_trace.h"
#include "unit/temporary_folder.h"
#include "unit/trace/event_text.h"

namespace profshim {
namespace {

const std::string kGolden = PROFSHIM_SOURCE_DIR "/tests/golden/traces/";

std::string plain_bytes(const std::string& name) {
  std::string text;
  TraceVisitor visitor;
  visitor.bytes = [&](std::string_view piece) { text += piece; };
  read_trace(kGolden + name, visitor);
  return text;
}

struct Seen {
  ReadResult result;
  std::vector<std::string> events;
};

Seen read(const std::string& bytes) {
  Seen seen;
  TraceVisitor visitor;
  visitor.event = [&](const ReadEvent& e) {
    seen.events.push_back(std::string(e.phase) + std::to_string(e.pid) + ' ' + std::to_string(e.tid) + ' ' +
                          std::to_string(e.ts_ns) + '+' + std::to_string(e.duration_ns) + ' ' +
                          std::to_string(e.args.size()));
    return true;
  };
  seen.result = read_trace_bytes(bytes, visitor);
  return seen;
}

/// Returns the place behind a random occurrence of `text`.
std::size_t place_of(const std::string& bytes, std::string_view text, std::mt19937& random) {
  const std::size_t from = std::uniform_int_distribution<std::size_t>(0, bytes.size() - 1)(random);
  std::size_t at = bytes.find(text, from);
  if (at == std::string::npos) at = bytes.find(text);
  return at + text.size();
}

struct Damage {
  const char* name;
  std::string_view behind, insert;
  JsonRepair kind;
  int offset = 0;  // of the odd byte in the insertion
};
const Damage kDamages[] = {
    {"newline", R"("name": ")", "\n", JsonRepair::kControlCharacter},
    {"control", R"("cat": ")", "\x1f", JsonRepair::kControlCharacter},
    {"nul in a string", R"("name": ")", std::string_view("\0", 1), JsonRepair::kControlCharacter},
    {"bad UTF-8", R"("name": ")", "\xc3", JsonRepair::kNotUtf8},
    {"lone surrogate", R"("name": ")", "\\udfff", JsonRepair::kLoneSurrogate},
    {"backslash", R"("name": ")", "\\U", JsonRepair::kBackslash},
    {"comma", R"("ph": "X",)", " ,", JsonRepair::kComma, -1},
    {"NaN", R"("ph": "X",)", "\"x\": NaN,", JsonRepair::kNotFinite, 5},
    {"nul", R"("ph": "X",)", std::string_view("\0", 1), JsonRepair::kNulByte},
};

class DamagedTrace : public testing::TestWithParam<const char*> {};

TEST_P(DamagedTrace, OddBytesLoseNoEvent) {
  const std::string whole = plain_bytes(GetParam());
  const Seen right = read(whole);
  ASSERT_TRUE(right.result.ok);
  ASSERT_TRUE(right.result.warnings().empty());
  std::mt19937 random(11);
  const int rounds = whole.size() > 1'000'000 ? 1 : 20;
  for (const Damage& damage : kDamages) {
    for (int round = 0; round < rounds; ++round) {
      std::string bytes = whole;
      std::set<std::size_t> places;
      for (int i = 0; i < 3; ++i) places.insert(place_of(whole, damage.behind, random));
      for (auto at = places.rbegin(); at != places.rend(); ++at) bytes.insert(*at, damage.insert);
      const Seen seen = read(bytes);
      EXPECT_TRUE(seen.result.ok) << damage.name << ": " << seen.result.error;
      EXPECT_EQ(seen.events, right.events) << damage.name;
      EXPECT_EQ(seen.result.json[damage.kind].count, places.size()) << damage.name;
      EXPECT_EQ(seen.result.json[damage.kind].first, *places.begin() + static_cast<std::size_t>(damage.offset))
          << damage.name;
      EXPECT_EQ(seen.result.warnings().size(), 1u) << damage.name;
    }
  }
}

/// The damaged event is lost; also the next one if the damage made it part of a string.
TEST_P(DamagedTrace, ABrokenEventDoesNotTakeTheOthersAlong) {
  const std::string whole = plain_bytes(GetParam());
  const Seen right = read(whole);
  const std::size_t first = whole.find("\"traceEvents\""), last = whole.rfind("\"ph\"");
  std::mt19937 random(12);
  const int rounds = whole.size() > 1'000'000 ? 20 : 400;
  for (int round = 0; round < rounds; ++round) {
    std::string bytes = whole;
    const std::size_t at = std::uniform_int_distribution<std::size_t>(first + 20, last)(random);
    const char now = "x\"{}[],:\\"[std::uniform_int_distribution<int>(0, 8)(random)];
    const char before = std::exchange(bytes[at], now);
    const Seen seen = read(bytes);
    EXPECT_TRUE(seen.result.ok || seen.result.is_partial());
    EXPECT_EQ(seen.result.useless(), "");
    EXPECT_GE(seen.events.size() + 3, right.events.size())
        << before << " -> " << now << " at " << at << ": " << seen.result.why_partial();
  }
}

INSTANTIATE_TEST_SUITE_P(Golden, DamagedTrace,
                         testing::Values("hta-cuda-event-sync-multistream.json.gz", "hta-ddp-nccl-3steps.json.gz"));

TEST(DamagedTraces, AllCommandsReadTheSame) {
  const std::string whole = plain_bytes("hta-cuda-event-sync-multistream.json.gz");
  const test::TemporaryFolder folder;
  std::mt19937 random(13);
  const auto right = analysis_detail::load_timeline_bytes(whole, "whole");
  const std::uint64_t events = read(whole).result.events;
  const std::string other = folder.path() + "/other.json", path = folder.path() + "/damaged.json";
  std::ofstream(other) << R"({"distributedInfo": {"rank": 1}, "traceEvents": [
      {"ph": "X", "cat": "cpu_op", "name": "a", "pid": 9, "tid": 9, "ts": 1, "dur": 1}]})";
  for (const Damage& damage : kDamages) {
    std::string bytes = whole;
    bytes.insert(place_of(bytes, damage.behind, random), damage.insert);
    std::ofstream(path, std::ios::binary) << bytes;
    const auto timelines = analysis_detail::load_timelines(path);
    EXPECT_EQ(timelines[0].slices.size(), right.slices.size()) << damage.name;
    EXPECT_EQ(timelines[0].warnings.size(), right.warnings.size() + 1) << damage.name;
    const ConvertResult converted = convert_to_perfetto(path, folder.path() + "/out.pftrace");
    EXPECT_EQ(converted.error, "") << damage.name;
    EXPECT_EQ(converted.events, events) << damage.name;
    EXPECT_EQ(converted.warnings.size(), 1u) << damage.name;
    MergeOptions options{.paths = {path, other}, .out = folder.path() + "/merged.json", .assume_clock = true};
    const MergeResult merged = merge_traces(options);
    EXPECT_EQ(merged.error, "") << damage.name;
    ASSERT_FALSE(merged.ranks.empty());
    EXPECT_EQ(merged.ranks[0].events + merged.ranks[1].events, events + 1) << damage.name;
    EXPECT_TRUE(read_trace(options.out, {}).json_warnings().empty()) << damage.name;
  }
}

TEST(DamagedTraces, DamageInTheHeadOrBehindTheEventsLosesNoEvent) {
  const std::string whole = test::sample_trace();
  const std::uint64_t events = read(whole).result.events;
  for (const std::string_view key : {"\"schemaVersion\":", "\"traceName\":"}) {
    std::string bytes = whole;
    bytes[bytes.find(key) + key.size() - 1] = 'x';
    const ReadResult result = read(bytes).result;
    EXPECT_FALSE(result.ok) << key;
    EXPECT_EQ(result.damaged, 1u) << key;
    EXPECT_EQ(result.events, events) << key;
    EXPECT_TRUE(result.why_partial().starts_with("damaged in 1 place: byte ")) << result.why_partial();
  }
}

TEST(DamagedTraces, BytesBehindTheGzipDataAreIgnored) {
  const std::string text = test::sample_trace();
  std::string packed;
  const auto sink = gzip_sink(std::make_unique<test::MemorySink>(packed), 6, 0);
  sink->write(text.data(), text.size());
  sink->close();
  for (const std::string_view tail : {"tail", "\x1f", "\x1fx"}) {
    const ReadResult result = read_trace_bytes(packed + std::string(tail), {});
    EXPECT_TRUE(result.ok) << result.error;
    EXPECT_EQ(result.bytes, text.size());
  }
  EXPECT_EQ(read_trace_bytes(packed + "tail", {}).warnings(),
            (std::vector<std::string>{"4 bytes behind the gzip data: ignored"}));
  EXPECT_TRUE(read_trace_bytes(packed + std::string(512, '\0'), {}).warnings().empty());
}

}  // namespace
}  // namespace profshim
