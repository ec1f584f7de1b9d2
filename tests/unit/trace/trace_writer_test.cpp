#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <regex>

#include "sample_trace.h"

namespace profshim {
namespace {

using test::MemorySink;

std::string written(const TraceEvent& event) {
  std::string text;
  MemorySink sink(text);
  TraceWriter writer(sink, TraceHeader{});
  writer.write(event);
  writer.finish();
  const std::string start = "\"traceEvents\": [\n", end = "\n]\n}\n";
  const std::size_t at = text.find(start) + start.size();
  return text.substr(at, text.size() - at - end.size());
}

std::string written_name(std::string_view name) {
  const std::string line = written({.phase = 'X', .category = Category::kCpuOp, .name = name});
  const std::string start = "\"name\":", end = ",\"pid\"";
  return line.substr(line.find(start) + start.size(), line.find(end) - line.find(start) - start.size());
}

TEST(TraceWriter, WritesTheKeysOfEachPhaseInKinetosOrder) {
  const Arg arg{"bytes", std::int64_t{8}};
  TraceEvent e{.category = Category::kCpuOp,
               .name = "n",
               .pid = 7,
               .tid = 9,
               .begin_ns = 1234567,
               .duration_ns = 89,
               .id = 5,
               .args = {&arg, 1}};

  EXPECT_EQ(written(e),
            R"({"ph":"X","cat":"cpu_op","name":"n","pid":7,"tid":9,"ts":1234.567,"dur":0.089,"args":{"bytes":8}})");
  e.phase = 'M';
  EXPECT_EQ(written(e), R"({"ph":"M","name":"n","ts":1234.567,"pid":7,"tid":9,"args":{"bytes":8}})");
  e.phase = 'i';
  EXPECT_EQ(written(e),
            R"({"ph":"i","cat":"cpu_op","s":"t","name":"n","pid":7,"tid":9,"ts":1234.567,"args":{"bytes":8}})");
  e.phase = 'b';
  EXPECT_EQ(
      written(e),
      R"({"ph":"b","cat":"cpu_op","id2":{"local":"0x5"},"name":"n","pid":7,"tid":9,"ts":1234.567,"args":{"bytes":8}})");
  e.phase = 'C';
  EXPECT_EQ(written(e), R"({"ph":"C","cat":"cpu_op","name":"n","pid":7,"tid":9,"ts":1234.567,"args":{"bytes":8}})");
  e.args = {};
  e.phase = 's';
  EXPECT_EQ(written(e), R"({"ph":"s","id":5,"pid":7,"tid":9,"ts":1234.567,"cat":"cpu_op","name":"n"})");
  e.phase = 'f';
  EXPECT_EQ(written(e), R"({"ph":"f","id":5,"pid":7,"tid":9,"ts":1234.567,"cat":"cpu_op","name":"n","bp":"e"})");
}

TEST(TraceWriter, WritesTextIdsOfKinetosMarks) {
  EXPECT_EQ(written({.phase = 'i', .name = "Record Window End", .text_ids = true, .scope = 'g'}),
            R"({"ph":"i","s":"g","name":"Record Window End","pid":"","tid":"","ts":0.000})");
}

TEST(TraceWriter, KeepsEveryNanosecondOfTheLargestTimes) {
  const std::int64_t largest_ns = 7'889'238'000'000'000 - 1;

  const std::string line = written({.phase = 'X', .begin_ns = largest_ns, .duration_ns = largest_ns});

  EXPECT_NE(line.find("\"ts\":7889237999999.999,\"dur\":7889237999999.999"), std::string::npos) << line;
}

TEST(TraceWriter, CutsWhatLiesBeforeTheBaseAtBothEnds) {
  std::string text;
  MemorySink sink(text);
  TraceHeader header;
  header.base_time_ns = 10'000;
  TraceWriter writer(sink, header);

  writer.write({.phase = 'X', .begin_ns = 8'000, .duration_ns = 5'000});
  writer.write({.phase = 'X', .begin_ns = 1'000, .duration_ns = 5'000});
  writer.finish();

  EXPECT_NE(text.find("\"ts\":0.000,\"dur\":3.000"), std::string::npos) << text;
  EXPECT_NE(text.find("\"ts\":0.000,\"dur\":0.000"), std::string::npos) << text;
}

TEST(TraceWriter, NegativeAndOverflowingDurationsBecomeZero) {
  EXPECT_NE(written({.phase = 'X', .begin_ns = 5, .duration_ns = -7}).find("\"dur\":0.000"), std::string::npos);
  EXPECT_NE(written({.phase = 'X', .begin_ns = 5, .duration_ns = std::numeric_limits<std::int64_t>::max()})
                .find("\"dur\":0.000"),
            std::string::npos);
}

TEST(TraceWriter, EscapesHostileNames) {
  EXPECT_EQ(written_name("a\"b\\c"), R"("a\"b\\c")");
  EXPECT_EQ(written_name(std::string_view("a\0b", 3)), R"("a\u0000b")");
  EXPECT_EQ(written_name("\x1f\x01"), R"("\u001F\u0001")");
  EXPECT_EQ(written_name("tab\tline\n"), R"("tab\tline\n")");
}

TEST(TraceWriter, KeepsValidUtf8AndReplacesTheRest) {
  EXPECT_EQ(written_name("Wärme \xe2\x82\xac \xf0\x9f\x9a\x80"), "\"Wärme \xe2\x82\xac \xf0\x9f\x9a\x80\"");
  EXPECT_EQ(written_name("a\xff"
                         "b"),
            "\"a\xef\xbf\xbd"
            "b\"");
  EXPECT_EQ(written_name("cut \xe2\x82"), "\"cut \xef\xbf\xbd\xef\xbf\xbd\"");
  EXPECT_EQ(written_name("\xc0\x80"), "\"\xef\xbf\xbd\xef\xbf\xbd\"") << "overlong";
  EXPECT_EQ(written_name("\xed\xa0\x80"), "\"\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\"") << "surrogate";
  EXPECT_EQ(written_name("\xf4\x90\x80\x80").size(), 2 + 4 * 3u) << "above U+10FFFF";
}

TEST(TraceWriter, FindsABadByteAtEveryPositionOfAName) {
  for (std::size_t size = 1; size <= 24; ++size) {
    for (std::size_t at = 0; at < size; ++at) {
      for (const char bad : {'"', '\\', '\x01', '\x80', '\0'}) {
        std::string name(size, 'a');
        name[at] = bad;
        EXPECT_GT(written_name(name).size(), size + 2) << size << ' ' << at << ' ' << int{bad};
      }
      for (const char good : {' ', '!', '#', '[', ']', '~', '\x7f'}) {
        std::string name(size, 'a');
        name[at] = good;
        EXPECT_EQ(written_name(name), '"' + name + '"');
      }
    }
  }
}

TEST(TraceWriter, LeavesOutNumbersThatJsonCannotWrite) {
  const Arg args[] = {{"nan", std::nan("")},
                      {"inf", std::numeric_limits<double>::infinity()},
                      {"half", 0.5},
                      {"large", std::numeric_limits<std::uint64_t>::max()},
                      {"small", std::numeric_limits<std::int64_t>::min()},
                      {"yes", true},
                      {"ranks", RawJson{"[0, 1]"}},
                      {"text", "x\"y"}};

  const std::string line = written({.phase = 'X', .args = args});

  EXPECT_NE(line.find(R"("args":{"half":0.5,"large":18446744073709551615,"small":-9223372036854775808,"yes":true,)"
                      R"("ranks":[0, 1],"text":"x\"y"}})"),
            std::string::npos)
      << line;
}

TEST(TraceWriter, HtasSearchFindsTheRankFirst) {
  const std::string text = test::sample_trace({.rank = 3});
  std::smatch match;

  ASSERT_TRUE(std::regex_search(text, match, std::regex("\"rank\":\\s+(\\d+)")));

  EXPECT_EQ(match[1], "3");
  EXPECT_LT(static_cast<std::size_t>(match.position(0)), text.find("traceEvents"));
}

TEST(TraceWriter, HeaderKeysStandInOrderAndTheNameLast) {
  const std::string text = test::sample_trace();
  std::size_t at = 0;

  for (const char* key : {"schemaVersion", "deviceProperties", "distributedInfo", "host_name", "profshim",
                          "displayTimeUnit", "baseTimeNanoseconds", "traceEvents", "traceName"}) {
    const std::size_t found = text.find("\n\"" + std::string(key) + "\": ");
    EXPECT_NE(found, std::string::npos) << key;
    EXPECT_GE(found, at) << key;
    at = found;
  }
}

TEST(TraceWriter, LeavesOutATraceNameWithABracket) {
  const std::string text = test::sample_trace({.trace_name = "/data/[run]/rank0.11.pt.trace.json"});

  EXPECT_EQ(text.find("traceName"), std::string::npos);
  EXPECT_EQ(text.substr(text.rfind(']')), "]\n}\n");
}

TEST(TraceWriter, WritesNoRankThatIsNotKnown) {
  EXPECT_EQ(test::sample_trace({.rank = -1}).find("distributedInfo"), std::string::npos);
}

TEST(TraceWriter, AFailedSinkStopsEverythingAndIsReported) {
  std::string text;
  MemorySink sink(text, 300'000);
  TraceWriter writer(sink, test::sample_header({}));

  for (int i = 0; i < 10'000; ++i) writer.write({.phase = 'X', .category = Category::kCpuOp, .name = "MPI_Send"});

  EXPECT_TRUE(writer.failed());
  EXPECT_LT(writer.events(), 10'000u);
  EXPECT_FALSE(writer.finish());
  EXPECT_LE(text.size(), 300'000u);
}

TEST(TraceWriter, CountsBytesAndEvents) {
  std::string text;
  MemorySink sink(text);
  TraceWriter writer(sink, TraceHeader{});
  for (int i = 0; i < 5000; ++i) writer.write({.phase = 'X', .category = Category::kCpuOp, .name = "MPI_Send"});

  EXPECT_TRUE(writer.finish());

  EXPECT_EQ(writer.bytes(), text.size());
  EXPECT_EQ(writer.events(), 5000u);
}

TEST(TraceWriter, WritesNamesLargerThanItsBuffer) {
  const std::string name(1'000'000, 'x');

  EXPECT_EQ(written_name(name), '"' + name + '"');
}

TEST(BaseTime, IsTheStartOfTheQuarter) {
  EXPECT_EQ(base_time_for(1790900000000000000), 227 * 7889238000000000);
  EXPECT_EQ(base_time_for(227 * 7889238000000000), 227 * 7889238000000000);
  EXPECT_EQ(base_time_for(227 * 7889238000000000 - 1), 226 * 7889238000000000);
}

}  // namespace
}  // namespace profshim
