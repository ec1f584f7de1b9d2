#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <random>

#include "convert/perfetto/convert.h"
#include "convert/perfetto/packets.h"
#include "unit/convert/perfetto_reader.h"
#include "unit/temporary_folder.h"
#include "unit/trace/sample_trace.h"

namespace profshim::test {
namespace {

constexpr char kBase[] = "1000000000000000000";

std::string trace_of(const std::string& events) {
  return std::string("{\"baseTimeNanoseconds\": ") + kBase + ", \"traceEvents\": [" + events + "]}";
}
std::string slice(const std::string& name, const std::string& ts, const std::string& dur,
                  const std::string& more = "\"pid\": 7, \"tid\": 8") {
  return R"({"ph": "X", "cat": "cpu_op", "name": ")" + name + R"(", "ts": )" + ts + ", \"dur\": " + dur + ", " + more +
         "}";
}

SeenPerfetto converted(const std::string& trace, ConvertResult* said = nullptr) {
  std::string bytes;
  MemorySink sink(bytes);
  ConvertResult result;
  const auto read = [&](const TraceVisitor& visitor) { return read_trace_bytes(trace, visitor); };
  EXPECT_TRUE(convert_detail::write_perfetto("trace", read, sink, result)) << result.error;
  if (said != nullptr) *said = result;
  SeenPerfetto seen = PerfettoReader(bytes).seen;
  EXPECT_EQ(seen.unknown_texts, 0u);
  EXPECT_EQ(seen.ends_of_nothing, 0u);
  return seen;
}

TEST(Perfetto, TimesAreNanosecondsSinceTheEpoch) {
  const SeenPerfetto seen = converted(trace_of(slice("a", "12.345", "0.067")));

  EXPECT_EQ(seen.slice("a").begin_ns, 1000000000000012345);
  EXPECT_EQ(seen.slice("a").end_ns, 1000000000000012412);
}

TEST(Perfetto, APhaseOfTwoLettersIsIgnored) {
  const std::string other = R"({"ph": "Xp", "cat": "cpu_op", "name": "b", "ts": 1, "dur": 1, "pid": 7, "tid": 8})";

  const SeenPerfetto seen = converted(trace_of(slice("a", "12", "1") + "," + other));

  EXPECT_EQ(seen.slices.size(), 1u);
}

TEST(Perfetto, SlicesKeepTheirTimesInAnyOrder) {
  std::mt19937 random(1);
  for (int round = 0; round < 300; ++round) {
    std::string events;
    std::multiset<std::tuple<std::string, std::int64_t, std::int64_t>> wanted, found;
    const int count = 2 + static_cast<int>(random() % 20);
    for (int i = 0; i < count; ++i) {
      const std::int64_t begin = random() % 8, duration = random() % 5;
      const std::string name = "s" + std::to_string(i);
      events += (i == 0 ? "" : ",") + slice(name, std::to_string(begin), std::to_string(duration));
      wanted.emplace(name, 1000000000000000000 + begin * 1000, 1000000000000000000 + (begin + duration) * 1000);
    }

    for (const SeenSlice& s : converted(trace_of(events)).slices) found.emplace(s.name, s.begin_ns, s.end_ns);

    ASSERT_EQ(found, wanted) << "round " << round << ": " << events;
  }
}

TEST(Perfetto, OnlySlicesThatDoNotNestGoToOverflowTracks) {
  const SeenPerfetto seen =
      converted(trace_of(slice("inner", "1", "2") + "," + slice("outer", "0", "10") + "," + slice("late", "5", "10")));

  EXPECT_EQ(seen.slice("inner").track, seen.slice("outer").track);
  EXPECT_NE(seen.slice("late").track, seen.slice("outer").track);
  EXPECT_EQ(seen.tracks.at(seen.slice("late").track).parent, seen.slice("outer").track);
  EXPECT_EQ(seen.instants[0].args.at("overlapping slices"), "1");
}

TEST(Perfetto, ProcessesAndThreadsHaveNames) {
  const SeenPerfetto seen = converted(
      trace_of(R"({"ph":"M","name":"process_name","pid":7,"tid":0,"ts":0,"args":{"name":"heat"}},)"
               R"({"ph":"M","name":"thread_name","pid":7,"tid":8,"ts":0,"args":{"name":"main"}},)" +
               slice("a", "1", "1") + "," + slice("b", "1", "1", R"("pid": "Spans", "tid": "PyTorch Profiler")")));

  const SeenDescriptor& thread = seen.tracks.at(seen.slice("a").track);
  EXPECT_EQ(thread.pid, 7);
  EXPECT_EQ(thread.tid, 8);
  EXPECT_EQ(thread.thread_name, "main");
  EXPECT_EQ(seen.tracks.at(thread.parent).process_name, "heat");
  const SeenDescriptor& spans = seen.tracks.at(seen.slice("b").track);
  EXPECT_EQ(spans.name, "PyTorch Profiler");
  EXPECT_EQ(seen.tracks.at(spans.parent).name, "Spans");
}

TEST(Perfetto, ArgumentsKeepTheirTypes) {
  const std::string args =
      R"("args": {"i": -5, "u": 18446744073709551615, "d": 1.5, "s": "text", "t": true, "l": [1, [2]], "n": null})";
  const SeenPerfetto seen = converted(trace_of(slice("a", "1", "1", "\"pid\": 7, \"tid\": 8, " + args)));

  const std::map<std::string, std::string> wanted = {
      {"i", "-5"},  {"u", "18446744073709551615"}, {"d", "1.500000"}, {"s", "text"}, {"t", "true"}, {"l", "[1,[2]]"},
      {"n", "null"}};
  EXPECT_EQ(seen.slice("a").args, wanted);
}

std::string arrow(char phase, const std::string& ts, const std::string& tid, const std::string& id,
                  const std::string& more = "") {
  return std::string(R"(,{"ph": ")") + phase + R"(", "cat": "ac2g", "name": "ac2g", "pid": 7, "id": )" + id +
         ", \"tid\": " + tid + ", \"ts\": " + ts + more + "}";
}
constexpr char kEnclosing[] = ", \"bp\": \"e\"";

TEST(Perfetto, ArrowsConnectTheSlicesThatTheyBindTo) {
  const std::string stream = R"("pid": 7, "tid": 9)";
  const SeenPerfetto seen = converted(trace_of(
      slice("launch", "1", "2") + "," + slice("outer", "0", "20") + "," + slice("kernel", "5", "4", stream) + "," +
      slice("next", "9", "4", stream) + "," + slice("third", "12", "9", stream) + arrow('s', "1", "8", "1") +
      arrow('f', "5", "9", "1", kEnclosing) + arrow('f', "9", "9", "1", kEnclosing) + arrow('s', "2", "8", "2") +
      arrow('f', "12", "9", "2", kEnclosing) + arrow('f', "13", "9", "3", kEnclosing)));

  const std::set<std::pair<std::string, std::string>> wanted = {
      {"launch", "kernel"}, {"launch", "next"}, {"launch", "third"}};
  EXPECT_EQ(seen.arrows, wanted);
}

// Traces of 2021 write the tid of a slice as text, and that of its arrow as a number.
TEST(Perfetto, AnArrowFindsItsSliceIfTheTidIsText) {
  const SeenPerfetto seen =
      converted(trace_of(slice("launch", "1", "2", R"("pid": "7", "tid": "8")") + "," +
                         slice("kernel", "5", "4", R"("pid": 7, "tid": "stream 7")") + arrow('s', "1", "8", "1") +
                         arrow('f', "5", "\"stream 7\"", "1", kEnclosing)));

  EXPECT_EQ(seen.arrows, (std::set<std::pair<std::string, std::string>>{{"launch", "kernel"}}));
}

TEST(Perfetto, TimesBelowZeroShiftAllTimes) {
  ConvertResult said;
  const SeenPerfetto seen = converted("[" + slice("a", "-10", "3") + "," + slice("b", "5", "1") + "]", &said);

  EXPECT_EQ(seen.slice("a").begin_ns, 0);
  EXPECT_EQ(seen.slice("a").end_ns, 3000);
  EXPECT_EQ(seen.slice("b").begin_ns, 15000);
  EXPECT_EQ(said.warnings, (std::vector<std::string>{"trace: its times begin below 0: all are shifted by 10000 ns"}));
  EXPECT_EQ(converted(trace_of(slice("a", "-10", "3"))).slice("a").begin_ns, 999999999999990000);
}

// A receive may begin before its send.
TEST(Perfetto, AnArrowMayEndInAnEarlierSlice) {
  const SeenPerfetto seen =
      converted(trace_of(slice("receive", "0", "20", R"("pid": 7, "tid": 9)") + "," + slice("send", "5", "2") +
                         arrow('s', "6", "8", "1") + arrow('f', "19", "9", "1", kEnclosing)));

  EXPECT_EQ(seen.arrows, (std::set<std::pair<std::string, std::string>>{{"send", "receive"}}));
}

TEST(Perfetto, AnArrowEndsInTheRightOneOfSeveralSlicesWithOneEnd) {
  const std::string stream = R"("pid": 7, "tid": 9)";
  for (const char* begin : {"0", "1", "2"}) {  // both slices end at 20
    const std::string range = slice("range", "0", "20", stream);
    const std::string kernel = slice("kernel", begin, std::to_string(20 - std::atoi(begin)), stream);
    for (const std::string& both : {range + "," + kernel, kernel + "," + range}) {
      if (*begin == '0' && both.starts_with(kernel)) continue;  // of equal slices, the first is the outer
      const SeenPerfetto seen = converted(trace_of(both + "," + slice("late", "5", "2") + arrow('s', "6", "8", "1") +
                                                   arrow('f', "19.999", "9", "1", kEnclosing)));

      EXPECT_EQ(seen.arrows, (std::set<std::pair<std::string, std::string>>{{"late", "kernel"}})) << both;
    }
  }
}

TEST(Perfetto, AsynchronousSlicesOverlap) {
  const auto event = [](const char* phase, int ts, int id, const char* args) {
    return std::string(R"({"ph": ")") + phase + R"(", "cat": "c", "name": "MPI_Irecv", "pid": 7, "tid": 8, "id": )" +
           std::to_string(id) + ", \"ts\": " + std::to_string(ts) + ", \"args\": {" + args + "}}";
  };
  const SeenPerfetto seen =
      converted(trace_of(event("b", 1, 1, "\"tag\": 4") + "," + event("b", 2, 2, "") + "," +
                         event("e", 5, 1, "\"got\": 8") + "," + event("e", 9, 2, "") + "," + event("b", 9, 3, "")));

  ASSERT_EQ(seen.named("MPI_Irecv"), 3u);
  EXPECT_EQ(seen.slices[0].end_ns - seen.slices[0].begin_ns, 4000);
  EXPECT_EQ(seen.slices[0].args, (std::map<std::string, std::string>{{"tag", "4"}, {"got", "8"}}));
  EXPECT_EQ(seen.slices[1].end_ns - seen.slices[1].begin_ns, 7000);
  EXPECT_EQ(seen.slices[2].end_ns, -1);
}

TEST(Perfetto, ConvertsCountersMarksAndMembers) {
  const std::string trace =
      std::string(R"({"distributedInfo": {"rank": 3}, "host_name": "node7", "traceEvents": [)") +
      R"({"ph":"C","cat":"c","name":"memory","pid":7,"tid":8,"ts":1,"args":{"used":5,"free":2.5}},)"
      R"({"ph":"i","s":"t","name":"mark","pid":7,"tid":8,"ts":2,"args":{"Bytes":9}},)"
      R"({"ph":"i","s":"g","name":"Record Window End","pid":"","tid":"","ts":3}]})";
  const SeenPerfetto seen = converted(trace);

  EXPECT_EQ(seen.counts, (std::vector<std::pair<std::string, double>>{{"memory used", 5}, {"memory free", 2.5}}));
  ASSERT_EQ(seen.instants.size(), 3u);
  EXPECT_EQ(seen.instants[0].name, "trace metadata");
  EXPECT_EQ(seen.instants[0].args.at("distributedInfo"), R"({"rank":3})");
  EXPECT_EQ(seen.instants[0].args.at("host_name"), "node7");
  EXPECT_EQ(seen.instants[1].args.at("Bytes"), "9");
  EXPECT_EQ(seen.instants[2].name, "Record Window End");
}

TEST(Perfetto, WarnsAboutEventsThatAreLeftOut) {
  ConvertResult said;
  const SeenPerfetto seen = converted(
      trace_of(slice("a", "1", "1") + R"(,{"ph":"X","name":"no time","pid":7,"tid":8,"dur":1})" +
               R"(,{"ph":"e","name":"no begin","cat":"c","id":1,"pid":7,"tid":8,"ts":1},)" + slice("b", "3", "-1")),
      &said);

  EXPECT_EQ(seen.slices.size(), 2u);
  ASSERT_EQ(said.warnings.size(), 2u);
  EXPECT_TRUE(said.warnings[0].starts_with("trace: 2 events")) << said.warnings[0];
  EXPECT_TRUE(said.warnings[1].starts_with("trace: 1 slices of a negative duration")) << said.warnings[1];
}

TEST(Perfetto, WarnsAboutRoundedTimes) {
  ConvertResult said;
  const SeenPerfetto seen = converted(trace_of(slice("a", "1.0006", "1") + "," + slice("b", "3.000", "1.5")), &said);

  EXPECT_EQ(seen.slice("a").begin_ns, 1000000000000001001);
  ASSERT_EQ(said.warnings.size(), 1u);
  EXPECT_TRUE(said.warnings[0].starts_with("trace: 1 events have times finer than a nanosecond")) << said.warnings[0];
}

TEST(Perfetto, ConvertsTheBeginningOfATruncatedFile) {
  const std::string whole = sample_trace();
  ConvertResult said;
  const SeenPerfetto seen = converted(whole.substr(0, whole.size() * 2 / 3), &said);

  EXPECT_GT(seen.slices.size(), 5u);
  EXPECT_EQ(seen.instants[0].args.at("file ends early"), "true");
  ASSERT_EQ(said.warnings.size(), 1u);
  EXPECT_NE(said.warnings[0].find("cut off"), std::string::npos);
}

// After Packets clears its interned texts, it must write texts again.
TEST(Perfetto, MemoryIsBoundedWithManyTexts) {
  std::string bytes;
  MemorySink sink(bytes);
  convert_detail::Packets packets(sink, 1000);
  std::string out;
  for (int i = 0; i < 100; ++i) {
    const std::string name = "name " + std::to_string(i);
    out.clear();
    packets.instant(out, name, "category", {}, i, 1);
    packets.write(out);
    packets.bound_memory();
  }
  ASSERT_TRUE(packets.finish());

  const SeenPerfetto seen = PerfettoReader(bytes).seen;
  EXPECT_GT(seen.state_cleared, 5u);
  EXPECT_EQ(seen.unknown_texts, 0u);
  EXPECT_EQ(seen.instants.back().name, "name 99");
}

TEST(Perfetto, AFailedConversionLeavesNoFile) {
  const TemporaryFolder folder;
  const std::string out = folder.path() + "/out.pftrace", in = folder.path() + "/in.json";
  std::ofstream(in) << "{\"traceEvents\": []}";

  const ConvertResult result = convert_to_perfetto(in, out);

  EXPECT_EQ(result.error, in + ": no events in it");
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder.path()), {}), 1);
}

}  // namespace
}  // namespace profshim::test
