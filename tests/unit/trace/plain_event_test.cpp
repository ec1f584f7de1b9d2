// read_trace() reads a trace's first event with the JSON parser, later plain events with plain_event.h.
#include "../../../src/trace/read/plain_event.h"

#include <gtest/gtest.h>

#include <sstream>
#include <vector>

#include "profshim/trace/reader.h"
#include "unit/trace/event_text.h"

namespace profshim {
namespace {

std::string read_last(const std::string& events) {
  std::ostringstream last;
  TraceVisitor visitor;
  visitor.event = [&](const ReadEvent& e) {
    last.str("");
    test::print_event(last, e);
    return true;
  };
  const ReadResult read = read_trace_bytes("{\"traceEvents\": [" + events + "]}", visitor);
  return read.ok ? last.str() + std::to_string(read.repeated_keys) : "error";
}

const char* const kFirst = R"({"ph":"M","name":"first"})";

void expect_same(const std::string& event) {
  EXPECT_EQ(read_last(std::string(kFirst) + ",\n  " + event), read_last(event)) << event;
}

std::string event_with(const std::string& args) { return R"({"ph":"X","name":"n","ts":1,"args":{)" + args + "}}"; }

TEST(PlainEvent, GivesWhatRapidJsonGives) {
  for (const char* const event : {
           R"({"ph":"X","cat":"cpu_op","name":"aten::add","pid":12,"tid":-3,"ts":4458676522690.655,"dur":156.777})",
           R"({ "ph" : "X" , "ts" : 1 , "dur":0.5 , "args" : { } })",
           R"({"ts":-0.0005,"dur":1e3,"pid":"Spans","tid":"PyTorch Profiler","s":"g","bp":"e"})",
           R"({"ts":0.1234,"dur":9007199254740993.001,"id":"0x1f"})",
           R"({"ts":99999999999999999999,"dur":-1,"id":18446744073709551615,"pid":1.5,"tid":1e2})",
           R"({"ts":1234567890123456.789,"dur":12345678901234567.891})",
           R"({"ts":9727320236815477,"dur":-9727320236815477.999})",
           R"({"ph":"X","unknown":"text","other":1.5e-3,"flag":true,"nothing":null})",
           R"({"ph":"X","unknown":{"a":[1]},"list":[1,2]})",
           R"({"name":"quote \" and \\ and \u00e9"})",
           R"({"name":"\b\f\n\r\t\/ \u0041\u00e9\u20AC\ud83d\ude00 and \u0000 inside","cat":"\"","ph":"\u0058"})",
           R"({"na\u006de":"a","\u00e9":1,"é":2})",
           R"({"name":"\ud83d"})",
           R"({"name":"\ud83dx"})",
           R"({"name":"\ude00"})",
           R"({"name":"\ud83d\u0041"})",
           R"({"name":"\u12"})",
           R"({"name":"C:\x"})",
           "{\"name\":\"\xc3\xa9\"}",
           "{\"name\":\"\xf0\x9f\x98\x80 \xe2\x82\xac \x7f\"}",
           "{\"name\":\"\xed\xa0\x80\"}",
           "{\"name\":\"\xc3\"}",
           R"({"name":"","ph":""})",
           R"({})",
           R"({"name":"a","name":"b"})",
           R"({"args":{"a":1},"args":{"b":2}})",
           R"({"ts":"1","dur":"2","name":5,"ph":null})",
           R"({"pid":1,"pid":2})",
           R"({"ph":"b","id2":{"local":"0x1f"},"name":"n"})",
           R"({"id2":{ "global" : "0xffffffffffffffff" } })",
           R"({"id2":{"local":"no number"}})",
           R"({"id2":{"local":"0x"}})",
           R"({"id2":{"local":31}})",
           R"({"id2":{"other":"1"}})",
           R"({"id2":{}})",
           R"({"id2":[]})",
           R"({"id2":"0x1f"})",
           R"({"id2":{"local":"0x1","global":"0x2"}})",
           R"({"ts":"1699529623106750.880","dur":"12.5","pid":"7","tid":"-7"})",
           R"({"ts":"N/A","dur":"","pid":"007","tid":"7a"})",
           R"({"ts":" 1","dur":"1e3","pid":"18446744073709551616","tid":"0"})",
           R"({"id":99999999999999999999999,"pid":18446744073709551615})",
           R"({"a":1,})",
           R"({"args":{"a":1,}})",
           R"({"args":{"a":[1,NaN]}})",
           "{\"a\":\"\x01\"}",
           "{\"name\":\"\xff\",\"args\":{\"\xff\":\"\xff\"}}",
       }) {
    expect_same(event);
  }
}

TEST(PlainEvent, ReadsArgumentsAsRapidJsonDoes) {
  for (const char* const args : {
           R"("a":1,"b":-0,"c":1.50,"d":1e400,"e":12345678901234567890,"f":-9223372036854775808)",
           R"("t":true,"f":false,"n":null,"s":"text","empty":"")",
           R"("l":[],"l2":[ ],"m":[ 1 , "a, b" , [ 2, [] ] , true , null , -1.5e3 ])",
           R"("l":["escape \n"],"x":1)",
           R"("l":["\u00e9 \/ é \" \u0001"],"x":"\n","y":"é")",
           R"("o":{"a":1},"p":{})",
           R"("o":{ "a" : [ { "b" : "\u00e9" , "c\n" : { } } , 1 ] , "d" : null },"a":2)",
           R"("o":{"a":1,"a":2})",
           R"("o":{"a":1,"b":{"a":1}},"b":1)",
           R"("o":{"a":1,})",
           R"("l":[1,])",
           R"("l":[{"a":1}])",
           R"("a":1,"a":2)",
           R"("long name that is longer than sixteen bytes":"and a text that is longer than sixteen bytes too")",
       }) {
    expect_same(event_with(args));
  }
}

TEST(PlainEvent, RefusesWhatRapidJsonRefuses) {
  for (const char* const event : {
           R"({"ts":01})",
           R"({"ts":1.})",
           R"({"ts":.5})",
           R"({"ts":-})",
           R"({"ts":1e})",
           R"({"ts":+1})",
           R"({"a":tru})",
           R"({,"a":1})",
           R"({"a" 1})",
           R"({"a":1 "b":2})",
           R"({"args":{"a":[1 2]}})",
           R"({"args":{"a":[}})",
           R"({"args":{"a":{"b" 1}}})",
           R"({"args":{"a":{"b":1]}})",
           R"({"args":{"a":{1}}})",
           R"({"a":"b)",
           R"({"a":nul})",
           R"({"a":truex})",
       }) {
    EXPECT_EQ(read_last(event), "error") << event;
    EXPECT_EQ(read_last(std::string(kFirst) + "," + event), "error") << event;
  }
}

TEST(PlainEvent, EventsMayLieAcrossThePiecesOfAFile) {
  constexpr std::size_t kPiece = 256 * 1024;
  const std::string event = event_with(R"("text":"abcdef\u00e9éghijklmnop\nqrstuvwxyz","list":[1, 2],"number":12.5)");
  std::string events = kFirst;
  int count = 1;
  while (events.size() < 3 * kPiece) {
    events += std::string(1 + count % 7, ' ') + "," + event;
    ++count;
  }
  std::uint64_t seen = 0;
  std::vector<std::uint64_t> wrong;
  const std::string file = "{\"traceEvents\": [" + events + "]}";
  TraceVisitor visitor;
  visitor.event = [&](const ReadEvent& e) {
    if (file[e.offset] != '{') wrong.push_back(e.offset);
    const bool is_equal =
        e.args.size() == 3 && e.args[0].text == "abcdefééghijklmnop\nqrstuvwxyz" && e.args[1].text == "[1,2]";
    if (seen > 0 && !is_equal) wrong.push_back(e.offset);
    ++seen;
    return true;
  };
  const ReadResult read = read_trace_bytes(file, visitor);
  EXPECT_TRUE(read.ok) << read.error;
  EXPECT_EQ(read.bytes, file.size());
  EXPECT_EQ(seen, static_cast<std::uint64_t>(count));
  EXPECT_TRUE(wrong.empty());
}

TEST(PlainEvent, StopsWhereTheVisitorStops) {
  TraceVisitor visitor;
  int seen = 0;
  visitor.event = [&](const ReadEvent&) { return ++seen < 3; };
  const std::string first = kFirst;
  const ReadResult read =
      read_trace_bytes("{\"traceEvents\": [" + first + "," + first + "," + first + "," + first + "]}", visitor);
  EXPECT_TRUE(read.ok);
  EXPECT_EQ(seen, 3);
}

TEST(PlainEvent, IsHowNearlyAllEventsAreRead) {
  trace_detail::PlainEvent plain;
  std::string text = event_with(R"("External id": 3, "Input Dims": [[1, 2], []], "Call stack": "a(1): b")");
  text.append(trace_detail::kPlainMargin, '\0');
  const char* const end = plain.read(text.c_str());
  ASSERT_NE(end, nullptr);
  EXPECT_EQ(*end, '}');
  EXPECT_EQ(plain.event().args[1].text, "[[1,2],[]]");
}

}  // namespace
}  // namespace profshim
