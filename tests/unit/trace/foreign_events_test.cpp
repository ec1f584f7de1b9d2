// Events of other writers, as read_trace() gives them to all commands.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "profshim/trace/reader.h"

namespace profshim {
namespace {

struct Seen {
  ReadResult result;
  std::vector<std::string> events;  // "X name ts+dur of pid/tid"
};

std::string text_of(const ReadEvent& e) {
  std::string text = std::string(e.phase) + ' ' + std::string(e.name) + ' ' + std::to_string(e.ts_ns);
  if (e.has_duration) text += '+' + std::to_string(e.duration_ns);
  for (const auto& arg : e.args) text += ' ' + std::string(arg.key) + '=' + std::string(arg.text);
  return text;
}

Seen read(const std::string& events) {
  Seen seen;
  TraceVisitor visitor;
  visitor.event = [&](const ReadEvent& e) {
    seen.events.push_back(text_of(e));
    return true;
  };
  seen.result = read_trace_bytes("{\"traceEvents\": [" + events + "]}", visitor);
  return seen;
}

using Events = std::vector<std::string>;

TEST(ForeignEvents, TimesAsTextAreExact) {
  const Seen seen = read(R"({"ph": "X", "name": "a", "ts": "1699529623106750.880", "dur": "12.5"},
                            {"ph": "X", "name": "b", "ts": "1699529623106750.881", "dur": 0.001})");
  EXPECT_EQ(seen.events, (Events{"X a 1699529623106750880+12500", "X b 1699529623106750881+1"}));
  EXPECT_EQ(seen.result.repairs.text_times, 2u);
  EXPECT_TRUE(seen.result.warnings().empty());
}

TEST(ForeignEvents, BeginsAndEndsBecomeSlicesOfTheirThread) {
  const Seen seen = read(R"(
      {"ph": "B", "name": "outer", "pid": 1, "tid": 1, "ts": 1, "args": {"in": "é"}},
      {"ph": "B", "name": "inner", "pid": 1, "tid": 1, "ts": 2},
      {"ph": "B", "name": "other", "pid": 1, "tid": "main", "ts": 3},
      {"ph": "X", "name": "whole", "pid": 1, "tid": 1, "ts": 4, "dur": 1},
      {"ph": "E", "pid": 1, "tid": 1, "ts": 5},
      {"ph": "E", "pid": 1, "tid": "main", "ts": 7, "name": "other"},
      {"ph": "E", "pid": 1, "tid": 1, "ts": 9, "args": {"out": "x"}})");
  EXPECT_EQ(seen.events,
            (Events{"X whole 4000+1000", "X inner 2000+3000", "X other 3000+4000", "X outer 1000+8000 in=é out=x"}));
  EXPECT_EQ(seen.result.events, 4u);
  EXPECT_EQ(seen.result.repairs.pairs, 3u);
  EXPECT_TRUE(seen.result.warnings().empty());
}

TEST(ForeignEvents, AnEndWithANameEndsTheBeginOfThatName) {
  const Seen seen = read(R"({"ph": "B", "name": "a", "ts": 1}, {"ph": "B", "name": "b", "ts": 2},
                            {"ph": "E", "name": "a", "ts": 3}, {"ph": "E", "name": "b", "ts": 3})");
  EXPECT_EQ(seen.events, (Events{"X a 1000+2000", "X b 2000+1000"}));
  EXPECT_TRUE(seen.result.warnings().empty());
}

// Perfetto shows b as 1 us long and ignores its end, too.
TEST(ForeignEvents, ASliceEndsWithTheOneAroundIt) {
  const Seen seen = read(R"({"ph": "B", "name": "a", "ts": 1}, {"ph": "B", "name": "b", "ts": 2},
                            {"ph": "E", "name": "a", "ts": 3}, {"ph": "E", "name": "b", "ts": 4})");
  EXPECT_EQ(seen.events, (Events{"X a 1000+2000", "X b 2000+1000"}));
  EXPECT_EQ(seen.result.warnings(), (Events{"1 slice (B event) does not end in the slice around it: it ends with that",
                                            "1 end (E event) without an open begin: left out"}));
}

// Files have X events in the order of their begins, or of their ends.
TEST(ForeignEvents, ASliceEndsWithTheCompleteEventAroundIt) {
  const std::string around = R"({"ph": "X", "name": "around", "ts": 1, "dur": 9})";
  const std::string past = R"({"ph": "X", "name": "past", "ts": 0, "dur": 1})";
  const std::string begin = R"({"ph": "B", "name": "a", "ts": 4}, {"ph": "X", "name": "in", "ts": 5, "dur": 2})";
  const std::string end = R"({"ph": "E", "name": "a", "ts": 20}, {"ph": "i", "ts": 30})";
  for (const std::string& events :
       {past + ',' + around + ',' + begin + ',' + end, past + ',' + begin + ',' + around + ',' + end}) {
    const Seen seen = read(events);
    EXPECT_EQ(std::count(seen.events.begin(), seen.events.end(), "X a 4000+6000"), 1) << events;
    EXPECT_EQ(seen.result.repairs.cut, 1u) << events;
  }
}

TEST(ForeignEvents, ASliceWithoutAnEndLastsToTheEndOfTheTrace) {
  const Seen seen = read(R"({"ph": "M", "name": "process_name", "ts": 99}, {"ph": "B", "name": "a", "ts": 1},
                            {"ph": "B", "name": "b", "ts": 2, "args": {"in": "é"}},
                            {"ph": "X", "name": "other", "ts": 3, "dur": 4, "tid": 2}, {"ph": "C", "ts": 5})");
  EXPECT_EQ(seen.events, (Events{"M process_name 99000", "X other 3000+4000", "C  5000", "X a 1000+6000 finished=false",
                                 "X b 2000+5000 in=é finished=false"}));
  EXPECT_EQ(seen.result.events, 5u);
  EXPECT_EQ(seen.result.warnings(), (Events{"2 slices (B events) have no end: they last to the end of the trace"}));
}

TEST(ForeignEvents, ATraceThatIsCutOffHasItsOpenSlices) {
  std::string names;
  TraceVisitor visitor;
  visitor.event = [&](const ReadEvent& e) {
    names += e.name;
    return true;
  };
  EXPECT_TRUE(read_trace_bytes(R"({"traceEvents": [{"ph": "B", "name": "a", "ts": 1}, {"ph")", visitor).truncated);
  EXPECT_EQ(names, "a");
}

TEST(ForeignEvents, LoneEndsAndBeginsWithoutATimeAreLeftOut) {
  const Seen seen = read(R"({"ph": "E", "ts": 1}, {"ph": "B", "name": "b"}, {"ph": "B", "name": "d", "ts": 1e300},
                            {"ph": "E", "name": "c", "ts": 3})");
  EXPECT_TRUE(seen.events.empty());
  EXPECT_EQ(seen.result.warnings(),
            (Events{"2 begins (B events) without a possible time, or beyond a million open ones: left out",
                    "2 ends (E events) without an open begin: left out"}));
}

TEST(ForeignEvents, OlderLettersAreReadAsTodays) {
  const Seen seen = read(R"({"ph": "S", "name": "a", "ts": 1, "id": 1}, {"ph": "T", "name": "a", "ts": 2, "id": 1},
                            {"ph": "F", "name": "a", "ts": 3, "id": 1}, {"ph": "R", "name": "mark", "ts": 4})");
  EXPECT_EQ(seen.events, (Events{"b a 1000", "n a 2000", "e a 3000", "I mark 4000"}));
  EXPECT_TRUE(seen.result.warnings().empty());
}

TEST(ForeignEvents, OtherPhasesAreCountedInOneLine) {
  const Seen seen =
      read(R"({"ph": "P", "ts": 1}, {"ph": "N", "ts": 2}, {"ph": "P", "ts": 3}, {"name": "x"}, null, null)");
  EXPECT_EQ(seen.result.events, 4u);
  EXPECT_EQ(seen.result.warnings(), (Events{"2 elements of traceEvents are null: left out",
                                            "4 events have a phase that no view shows (none 1, N 1, P 2)"}));
}

TEST(ForeignEvents, NumericIdsAsTextAreNumbers) {
  TraceVisitor visitor;
  visitor.event = [&](const ReadEvent& e) {
    EXPECT_TRUE(e.pid_is_number && !e.tid_is_number);
    EXPECT_EQ(e.pid, 5555);
    EXPECT_EQ(e.tid_text, "stream 7");
    return true;
  };
  const ReadResult result = read_trace_bytes(R"([{"ph": "X", "pid": "5555", "tid": "stream 7"}])", visitor);
  EXPECT_EQ(result.events, 1u);
}

TEST(ForeignEvents, IdsBeyond64BitsStayApart) {
  std::vector<std::int64_t> ids;
  TraceVisitor visitor;
  visitor.event = [&](const ReadEvent& e) {
    ids.push_back(e.id);
    return true;
  };
  read_trace_bytes(R"([{"id": 18446744073709551615}, {"id": 18446744073709551614},
                       {"id": 99999999999999999999998}, {"id": 99999999999999999999999}])",
                   visitor);
  ASSERT_EQ(ids.size(), 4u);
  EXPECT_EQ(ids[0], -1);
  EXPECT_EQ(ids[1], -2);
  EXPECT_NE(ids[2], ids[3]);
}

TEST(ForeignEvents, AListMayLackItsLastBracket) {
  for (const char* const text : {R"([{"ph": "X", "name": "a"},)", "[{\"ph\": \"X\", \"name\": \"a\"}\n"}) {
    const ReadResult result = read_trace_bytes(text, {});
    EXPECT_TRUE(result.ok) << result.error;
    EXPECT_EQ(result.events, 1u);
    EXPECT_EQ(result.warnings(), (Events{"the list of events is not closed: its end may be missing"}));
  }
}

}  // namespace
}  // namespace profshim
