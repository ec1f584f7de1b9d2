#include <gtest/gtest.h>

#include <fstream>
#include <map>

#include "profshim/trace/reader.h"
#include "sample_trace.h"
#include "unit/not_under_tsan.h"

namespace profshim {
namespace {

using test::MemorySink;
using Kind = ReadEvent::ReadArg::Kind;

std::string trace_of(const std::string& events) { return "{\"schemaVersion\": 1, \"traceEvents\": [" + events + "]}"; }

template <class Look>
void read_one(const std::string& event, const Look& look) {
  int events = 0;
  TraceVisitor visitor;
  visitor.event = [&](const ReadEvent& e) {
    ++events;
    look(e);
    return true;
  };
  const ReadResult result = read_trace_bytes(trace_of(event), visitor);
  EXPECT_TRUE(result.ok) << result.error;
  EXPECT_EQ(events, 1);
}

ReadResult read(const std::string& text) { return read_trace_bytes(text, {}); }

std::string gzip(const std::string& text) {
  std::string packed;
  const auto sink = gzip_sink(std::make_unique<MemorySink>(packed), 6, 0);
  sink->write(text.data(), text.size());
  sink->close();
  return packed;
}

TEST(TraceReader, ReadsAnEventWithAllItsParts) {
  const std::string event =
      R"({"ph": "X", "cat": "cpu_op", "name": "a\u0062\n", "pid": 12, "tid": "stream 7", "ts": 1.5, "dur": 2,
          "id": 9, "s": "t", "bp": "e", "other": {"x": [1]},
          "args": {"i": -3, "d": 1.25, "s": "x", "n": null, "t": true, "l": [ 1, {"k": "v\"w"} ], "e": {}}})";

  read_one(event, [&](const ReadEvent& e) {
    EXPECT_EQ(e.phase, "X");
    EXPECT_EQ(e.category, "cpu_op");
    EXPECT_EQ(e.name, "ab\n");
    EXPECT_TRUE(e.pid_is_number && e.has_tid && !e.tid_is_number);
    EXPECT_EQ(e.pid, 12);
    EXPECT_EQ(e.tid_text, "stream 7");
    EXPECT_EQ(e.ts_ns, 1500);
    EXPECT_EQ(e.duration_ns, 2000);
    EXPECT_EQ(e.id, 9);
    EXPECT_EQ(e.binding_point, "e");
    ASSERT_EQ(e.args.size(), 7u);
    EXPECT_EQ(e.args[0].integer, -3);
    EXPECT_EQ(e.args[1].number, 1.25);
    EXPECT_EQ(e.args[2].text, "x");
    EXPECT_EQ(e.args[3].kind, Kind::kNull);
    EXPECT_EQ(e.args[4].kind, Kind::kBool);
    EXPECT_EQ(e.args[5].text, R"([1,{"k":"v\"w"}])");
    EXPECT_EQ(e.args[6].text, "{}");
    EXPECT_EQ(e.offset, trace_of("").find("[") + 1);
  });
}

TEST(TraceReader, TimesAreExactToTheNanosecond) {
  const std::map<std::string, std::pair<std::int64_t, bool>> times = {
      {"7889237999999.999", {7889237999999999, false}},
      {"1711964646123456", {1711964646123456000, false}},
      {"0.001", {1, false}},
      {"0.1", {100, false}},
      {"1e3", {1000000, false}},
      {"1.2500", {1250, false}},
      {"0.0005", {1, true}},
      {"-1.5", {-1500, false}},
      {"1.0004", {1000, true}},
      {"-0.25", {-250, false}},
      {"1e300", {9200000000000000000, false}},
      {"9223372036854775807", {9200000000000000000, false}},
      {"-9223372036854775808", {-9200000000000000000, false}}};

  for (const auto& [text, expected] : times) {
    read_one(R"({"ts": )" + text + "}", [&](const ReadEvent& e) {
      EXPECT_EQ(e.ts_ns, expected.first) << text;
      EXPECT_EQ(e.finer_than_ns, expected.second) << text;
    });
  }
}

TEST(TraceReader, LargeIntegersKeepTheirText) {
  read_one(R"({"args": {"a": 9223372036854775807, "b": 18446744073709551615}})", [](const ReadEvent& e) {
    EXPECT_EQ(e.args[0].kind, Kind::kInt);
    EXPECT_EQ(e.args[0].integer, 9223372036854775807);
    EXPECT_EQ(e.args[1].kind, Kind::kDouble);
    EXPECT_EQ(e.args[1].text, "18446744073709551615");
  });
}

TEST(TraceReader, TellsMetadataBeforeFromBehind) {
  std::map<std::string, std::pair<std::string, bool>> seen;
  TraceVisitor visitor;
  visitor.metadata = [&](std::string_view key, std::string_view json, bool before) {
    seen[std::string(key)] = std::make_pair(std::string(json), before);
  };

  const ReadResult result =
      read_trace_bytes(R"({"a": {"b": [1, "x"]}, "traceEvents": [], "displayTimeUnit": "ms", "INFO": []})", visitor);

  EXPECT_TRUE(result.ok) << result.error;
  EXPECT_EQ(seen["a"], std::make_pair(std::string(R"({"b":[1,"x"]})"), true));
  EXPECT_EQ(seen["displayTimeUnit"], std::make_pair(std::string("\"ms\""), false));
  EXPECT_EQ(seen["INFO"], std::make_pair(std::string("[]"), false));
}

TEST(TraceReader, IsStrict) {
  const char* const bad[] = {R"({"ts": 01})", R"({"ts": 1.})", "{'a': 1}", "[1]", "{\"a\" 1}"};
  for (const char* event : bad) {
    const ReadResult result = read(trace_of(event));
    EXPECT_FALSE(result.ok) << event;
    EXPECT_FALSE(result.truncated) << event;
    EXPECT_TRUE(result.error.starts_with("byte ")) << result.error;
  }
  EXPECT_FALSE(read("{}").ok);
  EXPECT_FALSE(read(R"({"traceEvents": 1})").ok);
  EXPECT_FALSE(read(R"({"traceEvents": [], "traceEvents": []})").ok);
}

TEST(TraceReader, AnIdMayBeOfTheProcess) {
  std::vector<std::int64_t> ids;
  TraceVisitor visitor;
  visitor.event = [&](const ReadEvent& e) {
    EXPECT_TRUE(e.has_id);
    ids.push_back(e.id);
    return true;
  };

  read_trace_bytes(trace_of(R"({"ph":"b","id2":{"local":"0x1f"}},{"ph":"b","id2":{"global":32}},{"ph":"e","id":33})"),
                   visitor);

  EXPECT_EQ(ids, (std::vector<std::int64_t>{31, 32, 33}));
}

// PyTorch without Kineto writes only the list of events.
TEST(TraceReader, AListOfEventsAloneIsATraceToo) {
  std::vector<std::string> names;
  TraceVisitor visitor;
  visitor.event = [&](const ReadEvent& e) {
    names.emplace_back(e.name);
    return true;
  };
  const ReadResult read = read_trace_bytes(R"( [{"name":"a","ph":"X"}, {"name":"b","ph":"X"}] )", visitor);
  EXPECT_TRUE(read.ok) << read.error;
  EXPECT_TRUE(read.bare_list);
  EXPECT_EQ(names, (std::vector<std::string>{"a", "b"}));
  EXPECT_FALSE(read_trace_bytes(R"([1])", {}).ok);
  EXPECT_TRUE(read_trace_bytes(R"([{"name":"a"},{"na)", {}).truncated);
}

TEST(TraceReader, CountsObjectsWithARepeatedKey) {
  const std::string events =
      R"({"name": "a", "ts": 1, "name": "b"}, {"args": {"x": {"y": 1, "y": 2}}}, {"a": {"b": 1}, "b": 1})";

  const ReadResult result = read(trace_of(events));

  EXPECT_TRUE(result.ok) << result.error;
  EXPECT_EQ(result.repeated_keys, 2u);
  EXPECT_EQ(result.repeated_key_at, trace_of("").find('[') + 1 + events.find("}"));
}

TEST(TraceReader, EveryCutIsReportedAsCut) {
  const std::string text = test::sample_trace();
  for (std::size_t size = 0; size < text.find_last_of('}'); size += 7) {
    const ReadResult result = read(text.substr(0, size));
    EXPECT_FALSE(result.ok) << size;
    EXPECT_TRUE(result.truncated) << size << ' ' << result.error;
  }
}

TEST(TraceReader, EveryCutOfAGzipFileIsReportedAsCut) {
  const std::string packed = gzip(test::sample_trace());
  for (std::size_t size = 3; size < packed.size(); size += 5) {
    const ReadResult result = read(packed.substr(0, size));
    EXPECT_FALSE(result.ok) << size;
    EXPECT_TRUE(result.truncated) << size << ' ' << result.error;
  }
}

TEST(TraceReader, SaysHowManyEventsStandBeforeTheCut) {
  const std::string text = trace_of(R"({"name": "a"}, {"name": "b"}, {"name": "c"})");

  const ReadResult result = read(text.substr(0, text.find("\"c\"")));

  EXPECT_EQ(result.events, 2u);
  EXPECT_NE(result.error.find("ends early"), std::string::npos) << result.error;
}

TEST(TraceReader, ReadsSeveralGzipMembersAndTheirPadding) {
  const std::string text = test::sample_trace();

  const ReadResult result = read(gzip(text.substr(0, 1000)) + gzip(text.substr(1000)) + std::string(512, '\0'));

  EXPECT_TRUE(result.ok) << result.error;
  EXPECT_EQ(result.bytes, text.size());
}

TEST(TraceReader, BrokenGzipIsNoCut) {
  std::string packed = gzip(test::sample_trace());
  packed[packed.size() / 2] = static_cast<char>(~packed[packed.size() / 2]);

  const ReadResult result = read(packed);

  EXPECT_FALSE(result.ok);
}

TEST(TraceReader, RefusesDeepNestingAndKeepsItsStack) {
  const auto nested = [](std::size_t depth) {
    return trace_of("{\"args\": {\"a\": " + std::string(depth, '[') + std::string(depth, ']') + "}}");
  };

  EXPECT_TRUE(read(nested(252)).ok);
  EXPECT_FALSE(read(nested(253)).ok);
  EXPECT_NE(read(nested(5'000'000)).error.find("256 levels"), std::string::npos);
}

TEST(TraceReader, RefusesTextsBeyond64MiB) {
  NOT_UNDER_TSAN("one thread, and takes minutes");
  const std::string name(65ull << 20, 'x');

  const ReadResult result = read(trace_of("{\"name\": \"" + name + "\"}"));

  EXPECT_FALSE(result.ok);
  EXPECT_FALSE(result.truncated);
  EXPECT_NE(result.error.find("64 MiB"), std::string::npos) << result.error;
}

TEST(TraceReader, StopsWhenTheVisitorHasSeenEnough) {
  TraceVisitor visitor;
  visitor.event = [](const ReadEvent&) { return false; };

  const ReadResult result = read_trace_bytes(trace_of("{}, {}, broken"), visitor);

  EXPECT_TRUE(result.ok);
  EXPECT_EQ(result.events, 1u);
}

TEST(TraceReader, GivesBackWhatTheWriterWrote) {
  const char hostile[] = "q\"b\\n\n\x01 \xe2\x82\xac";
  const Arg args[] = {{"k\"", "v\n"}, {"n", std::int64_t{-5}}};
  std::string text;
  MemorySink sink(text);
  TraceWriter writer(sink, TraceHeader{});
  writer.write({.phase = 'X',
                .category = Category::kCpuOp,
                .name = hostile,
                .pid = 3,
                .tid = 4,
                .begin_ns = 123456789,
                .duration_ns = 1,
                .args = args});
  writer.finish();
  int events = 0;
  TraceVisitor visitor;

  visitor.event = [&](const ReadEvent& e) {
    ++events;
    EXPECT_EQ(e.name, hostile);
    EXPECT_EQ(e.ts_ns, 123456789);
    EXPECT_EQ(e.duration_ns, 1);
    EXPECT_EQ(e.args[0].key, "k\"");
    EXPECT_EQ(e.args[0].text, "v\n");
    EXPECT_EQ(e.args[1].integer, -5);
    return true;
  };

  EXPECT_TRUE(read_trace_bytes(text, visitor).ok);
  EXPECT_EQ(events, 1);
}

TEST(TraceReader, HandsOutEveryByteOnce) {
  const std::string text = test::sample_trace({.steps = 3000});
  std::string seen;
  TraceVisitor visitor;
  visitor.bytes = [&](std::string_view piece) { seen += piece; };

  EXPECT_TRUE(read_trace_bytes(gzip(text), visitor).ok);

  EXPECT_EQ(seen, text);
}

TEST(TraceReader, SaysWhyAFileCannotBeOpened) {
  const ReadResult result = read_trace("/no/such/file.pt.trace.json", {});

  EXPECT_FALSE(result.ok);
  EXPECT_EQ(result.error, "cannot open: No such file or directory");
}

TEST(JsonLeaves, GivesEveryLeafWithItsPath) {
  std::string seen;

  EXPECT_TRUE(json_leaves(R"({"a": [1, {"b": "x"}], "c": {}, "d": null, "e": 1.5, "f": true})",
                          [&](std::string_view path, const ReadEvent::ReadArg& value) {
                            seen +=
                                std::string(path) + "=" +
                                (value.kind == Kind::kInt ? std::to_string(value.integer) : std::string(value.text)) +
                                ";";
                          }));

  EXPECT_EQ(seen, "a.0=1;a.1.b=x;c={};d=;e=;f=;");
}

TEST(JsonLeaves, RefusesWhatIsNoJson) {
  EXPECT_FALSE(json_leaves("{\"a\": }", [](std::string_view, const ReadEvent::ReadArg&) {}));
  EXPECT_FALSE(
      json_leaves(std::string(1000, '[') + std::string(1000, ']'), [](std::string_view, const ReadEvent::ReadArg&) {}));
}

TEST(TraceReader, TheElementsOfAListAreTextsOfTheirOwn) {
  EXPECT_EQ(json_elements(R"([{"id": 0, "name": "a\"]"}, 1.5, [], "x"])"),
            (std::vector<std::string>{R"({"id":0,"name":"a\"]"})", "1.5", "[]", "\"x\""}));
  EXPECT_TRUE(json_elements(R"({"a": []})").empty());
  EXPECT_TRUE(json_elements("[1,").empty());
  EXPECT_EQ(json_part(R"({"a": {"b": [1, "x"]}, "c": "d"})", "a"), R"({"b":[1,"x"]})");
  EXPECT_EQ(json_part(R"({"c": "d"})", "c"), "\"d\"");
  EXPECT_EQ(json_part(R"({"c": "d"})", "e") + json_part("[1]", "e") + json_part("{", "e"), "");
}

}  // namespace
}  // namespace profshim
