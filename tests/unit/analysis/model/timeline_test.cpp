#include "analysis/model/timeline.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <stdexcept>

#include "unit/trace/sample_trace.h"

namespace profshim::analysis_detail {
namespace {

constexpr char kGolden[] = PROFSHIM_SOURCE_DIR "/tests/golden/";

std::string trace_of(const std::string& events, const std::string& members = "") {
  return "{\"schemaVersion\": 1, " + members + " \"traceEvents\": [" + events + "]}";
}

std::string slice(const std::string& name, const std::string& ts, const std::string& dur,
                  const std::string& more = "\"cat\":\"cpu_op\"") {
  return "{\"ph\":\"X\",\"name\":\"" + name + "\",\"pid\":7,\"tid\":8,\"ts\":" + ts + ",\"dur\":" + dur + "," + more +
         "}";
}

Timeline load(const std::string& text) { return load_timeline_bytes(text, "some/file.json"); }

std::ptrdiff_t count(const Timeline& timeline, Kind kind) {
  return std::count_if(timeline.slices.begin(), timeline.slices.end(), [=](const Slice& s) { return s.kind == kind; });
}

std::string why_not(const std::string& text) {
  try {
    load(text);
  } catch (const std::runtime_error& error) {
    return error.what();
  }
  return "it loads";
}

TEST(Timeline, HoldsOneOfOurTraces) {
  const Timeline timeline = load(test::sample_trace({.rank = 2}));

  EXPECT_EQ(timeline.dialect, Dialect::kProfshim);
  EXPECT_EQ(timeline.rank, 2);
  EXPECT_EQ(timeline.world_size, 4);
  EXPECT_EQ(timeline.backend, "mpi");
  EXPECT_EQ(timeline.host, "node1");
  EXPECT_EQ(timeline.pid, 4713);
  EXPECT_TRUE(timeline.complete);
  EXPECT_TRUE(timeline.warnings.empty());
  ASSERT_EQ(timeline.steps.size(), 3u);
  EXPECT_EQ(timeline.steps[0].number, 11);
  EXPECT_EQ(timeline.steps[0].begin_ns, 1790857026000000000 + 1'234'567'891'011);
  EXPECT_EQ(timeline.steps[0].duration_ns, 9'999'500);
  EXPECT_EQ(timeline.slices.size(), 18u);  // per step: five calls and ranges and one asynchronous message
}

TEST(Timeline, JoinsBeginAndEndOfAsynchronousWork) {
  const Timeline timeline = load(test::sample_trace());

  const auto at =
      std::find_if(timeline.slices.begin(), timeline.slices.end(), [](const Slice& s) { return s.asynchronous; });

  ASSERT_NE(at, timeline.slices.end());
  EXPECT_EQ(timeline.name_of(*at), "MPI_Irecv");
  EXPECT_EQ(at->duration_ns, 750'250);
}

TEST(Timeline, LeavesOutAsynchronousWorkWithoutAnEnd) {
  const std::string begin =
      "{\"ph\":\"b\",\"cat\":\"cpu_op\",\"name\":\"MPI_Isend\",\"id\":5,\"pid\":7,\"tid\":8,\"ts\":1}";

  const Timeline timeline = load(trace_of(begin + "," + slice("a", "1", "2")));

  EXPECT_EQ(timeline.slices.size(), 1u);
  ASSERT_EQ(timeline.warnings.size(), 1u);
  EXPECT_NE(timeline.warnings[0].find("1 asynchronous events without an end"), std::string::npos);
}

TEST(Timeline, KeepsWhatCommunicates) {
  const Timeline timeline = load(test::sample_trace());

  const auto at = std::find_if(timeline.slices.begin(), timeline.slices.end(),
                               [&](const Slice& s) { return timeline.name_of(s) == "MPI_Allreduce"; });

  ASSERT_NE(at, timeline.slices.end());
  ASSERT_NE(at->communication, kNone);
  const Communication& c = timeline.communications[at->communication];
  EXPECT_EQ(c.bytes, 8);
  EXPECT_EQ(timeline.texts[c.dtype], "double");
  EXPECT_EQ(timeline.texts[c.group_label], "MPI_COMM_WORLD");
}

// Until 2025-03 Kineto wrote baseTimeNanoseconds after the events.
TEST(Timeline, HoldsATraceOfKinetoWithNccl) {
  const std::vector<Timeline> all = load_timelines(kGolden + std::string("traces/hta-ddp-nccl-3steps.json.gz"));
  const Timeline& timeline = all.front();

  EXPECT_EQ(timeline.dialect, Dialect::kKineto);
  EXPECT_EQ(timeline.rank, 0);
  EXPECT_EQ(timeline.world_size, 2);
  EXPECT_EQ(timeline.backend, "nccl");
  EXPECT_EQ(count(timeline, Kind::kCpuOp), 14346);
  EXPECT_EQ(count(timeline, Kind::kRuntime), 8740);
  EXPECT_EQ(count(timeline, Kind::kKernel), 2700);
  EXPECT_EQ(count(timeline, Kind::kMemcpy), 960);
  EXPECT_EQ(count(timeline, Kind::kMemset), 114);
  EXPECT_EQ(count(timeline, Kind::kUserAnnotation), 42);
  EXPECT_EQ(count(timeline, Kind::kGpuAnnotation), 30);
  ASSERT_EQ(timeline.steps.size(), 3u);
  EXPECT_EQ(timeline.steps[2].number, 6);
  EXPECT_EQ(timeline.communications.size(), 48u);  // 27 operators, 21 kernels
  EXPECT_EQ(timeline.texts[timeline.communications[0].collective], "allreduce");
  EXPECT_EQ(timeline.steps[0].begin_ns / 1'000'000'000, 1716423322);
}

TEST(Timeline, HoldsTodaysKineto) {
  const std::vector<Timeline> all = load_timelines(kGolden + std::string("traces/tracelens-b200-8gpu-rank0.json.gz"));
  const Timeline& timeline = all.front();

  EXPECT_EQ(timeline.dialect, Dialect::kKineto);
  EXPECT_EQ(timeline.world_size, 8);
  EXPECT_EQ(count(timeline, Kind::kPythonFunction), 15230);
  EXPECT_EQ(count(timeline, Kind::kDriver), 221);
  EXPECT_EQ(count(timeline, Kind::kOverhead), 9);
  const auto kernel = std::find_if(timeline.slices.begin(), timeline.slices.end(),
                                   [](const Slice& s) { return s.kind == Kind::kKernel && s.communication != kNone; });
  ASSERT_NE(kernel, timeline.slices.end());
  EXPECT_EQ(kernel->external_id, 4802);
  EXPECT_EQ(kernel->correlation, 15270);
  EXPECT_EQ(kernel->duration_ns, 21953);
  const Communication& c = timeline.communications[kernel->communication];
  EXPECT_EQ(timeline.texts[c.collective], "_allgather_base");
  EXPECT_EQ(c.elements_in, 25136);
  EXPECT_EQ(c.elements_out, 201088);
  EXPECT_EQ(c.group_size, 8);
  EXPECT_EQ(timeline.texts[c.dtype], "BFloat16");
  EXPECT_EQ(timeline.texts[c.group], "3");
  EXPECT_EQ(timeline.texts[c.ranks], "[0, 1, 2, 3, 4, 5, 6, 7]");
}

TEST(Timeline, HoldsAbsoluteMicroseconds) {
  const std::vector<Timeline> all =
      load_timelines(kGolden + std::string("traces/hta-cuda-event-sync-multistream.json.gz"));
  const Timeline& timeline = all.front();

  EXPECT_EQ(timeline.dialect, Dialect::kKinetoAbsolute);
  EXPECT_GT(count(timeline, Kind::kSync), 0);
  EXPECT_EQ(timeline.slices[0].begin_ns % 1000, 0);
  EXPECT_GT(timeline.slices[0].begin_ns, 1'600'000'000'000'000'000);
}

TEST(Timeline, HoldsTheWordsOf2021) {
  const Timeline timeline =
      load(trace_of("{\"ph\":\"X\",\"cat\":\"Kernel\",\"name\":\"k\",\"pid\":0,\"tid\":\"stream 7\",\"ts\":5,\"dur\":1,"
                    "\"args\":{\"External id\":3,\"correlation\":4}}," +
                    slice("op", "1", "2", "\"cat\":\"Operator\",\"args\":{\"external id\":3}")));

  EXPECT_EQ(timeline.dialect, Dialect::kKineto2021);
  ASSERT_EQ(timeline.slices.size(), 2u);
  EXPECT_EQ(timeline.slices[0].kind, Kind::kKernel);
  EXPECT_EQ(timeline.texts[timeline.tracks[timeline.slices[0].track].tid_text], "stream 7");
  EXPECT_EQ(timeline.slices[1].kind, Kind::kCpuOp);
  EXPECT_EQ(timeline.slices[1].external_id, 3);
}

TEST(Timeline, HoldsTheBareListOfAPyTorchWithoutKineto) {
  const Timeline timeline = load(
      " [{\"name\": \"aten::add\", \"ph\": \"X\", \"ts\": 163, \"dur\": 54, \"tid\": 1, "
      "\"pid\": \"CPU functions\", \"args\": {}}]");

  EXPECT_EQ(timeline.dialect, Dialect::kEventList);
  ASSERT_EQ(timeline.slices.size(), 1u);
  EXPECT_EQ(timeline.slices[0].kind, Kind::kCpuOp);
  EXPECT_EQ(timeline.slices[0].duration_ns, 54'000);
}

TEST(Timeline, HoldsWhatAllocatorsDid) {
  const Timeline timeline = load(trace_of(
      slice("a", "1", "2") +
          ",{\"ph\":\"i\",\"cat\":\"cpu_instant_event\",\"s\":\"t\",\"name\":\"[memory]\",\"pid\":7,\"tid\":8,\"ts\":2,"
          "\"args\":{\"Device Type\":1,\"Device Id\":3,\"Bytes\":-512}}",
      "\"profile_memory\": 1,"));

  EXPECT_TRUE(timeline.profile_memory);
  ASSERT_EQ(timeline.memory.size(), 1u);
  EXPECT_EQ(timeline.memory[0].device_type, 1);
  EXPECT_EQ(timeline.memory[0].device_index, 3);
  EXPECT_EQ(timeline.memory[0].bytes, -512);
  EXPECT_FALSE(timeline.memory[0].failed);
}

TEST(Timeline, SaysWhatTheRecorderLost) {
  const Timeline timeline =
      load(trace_of(slice("a", "1", "2"), "\"profshim\": {\"complete\": false, \"dropped_events\": 17},"));

  EXPECT_FALSE(timeline.complete);
  EXPECT_EQ(timeline.dropped, 17u);
}

TEST(Timeline, ReadsWhatIsThereOfACutFile) {
  const std::string text = test::sample_trace();

  const Timeline timeline = load(text.substr(0, text.size() * 3 / 4));

  EXPECT_TRUE(timeline.truncated);
  EXPECT_GT(timeline.slices.size(), 5u);
  ASSERT_FALSE(timeline.warnings.empty());
  EXPECT_NE(timeline.warnings.back().find("some/file.json: cut off: "), std::string::npos);
}

TEST(Timeline, LeavesOutWhatHasNoPossibleTime) {
  const Timeline timeline =
      load(trace_of(slice("a", "1", "2") + "," + slice("b", "1", "-2") + "," + slice("c", "1e300", "1")));

  EXPECT_EQ(timeline.slices.size(), 1u);
  ASSERT_EQ(timeline.warnings.size(), 1u);
  EXPECT_EQ(timeline.warnings[0], "some/file.json: 2 events without a possible time or duration are left out");
}

TEST(Timeline, ANegativeTimeIsATime) {
  const Timeline timeline = load(trace_of(slice("a", "-1461972216707720", "5") + "," + slice("b", "1", "2")));

  ASSERT_EQ(timeline.slices.size(), 2u);
  EXPECT_EQ(timeline.slices[0].begin_ns, -1461972216707720000);
  EXPECT_TRUE(timeline.warnings.empty());
}

TEST(Timeline, CountsSlicesOfUnknownCategories) {
  const Timeline timeline =
      load(trace_of(slice("a", "1", "2", R"("cat":"FEE")") + "," + slice("b", "1", "2") + "," +
                    slice("c", "1", "2", R"("id":1)") + "," + slice("d", "1", "2", R"("cat":"FEE")")));

  EXPECT_EQ(timeline.warnings,
            (std::vector<std::string>{"some/file.json: 3 slices of unknown category (\"FEE\": 2, none: 1): "
                                      "shown by name, as host functions"}));
}

TEST(Timeline, SaysInOneLineWhatIsNoTrace) {
  EXPECT_EQ(why_not(trace_of("")), "some/file.json: no events in it");
  EXPECT_NE(why_not("hello").find("some/file.json: byte "), std::string::npos);
  EXPECT_NE(why_not("").find("some/file.json: byte 0"), std::string::npos);
  EXPECT_NE(why_not(trace_of(slice("a", "nul", "1"))).find("Invalid value"), std::string::npos);
  EXPECT_EQ(why_not(trace_of(slice("a", "NaN", "1"))),
            "some/file.json: none of its 1 events has a time and a duration");
  EXPECT_NE(why_not("{}").find("traceEvents is missing"), std::string::npos);
  EXPECT_NE(why_not("[1]").find("not an object"), std::string::npos);
  EXPECT_THROW(load_timelines("/no/such/file.json"), std::runtime_error);
}

TEST(Timeline, CountsTheEventsOfATraceWithoutDurations) {
  const Timeline timeline =
      load(trace_of(R"({"ph":"M","name":"process_name","pid":1},{"ph":"i","ts":1},{"ph":"I","ts":2},{"ph":"R","ts":3},
                  {"ph":"C","ts":4},{"ph":"b","ts":5,"id":1},{"ph":"s","ts":6,"id":1},{"ph":"O","ts":7})"));

  EXPECT_TRUE(timeline.slices.empty());
  EXPECT_EQ(
      timeline.without_durations,
      "none of its 8 events has a duration (3 instants, 1 counter value, 1 begin or end of an asynchronous slice, "
      "1 end of an arrow, 1 name of a process or thread, 1 event of another phase)");
  EXPECT_NE(std::find(timeline.warnings.begin(), timeline.warnings.end(),
                      "some/file.json: " + timeline.without_durations + ": tables of times are empty"),
            timeline.warnings.end());
  EXPECT_EQ(load(trace_of(slice("a", "1", "2"))).without_durations, "");
}

TEST(Timeline, ASliceWithoutAnEndIsUnfinished) {
  const Timeline timeline = load(trace_of(R"({"ph":"B","name":"a","cat":"cpu_op","ts":1},{"ph":"i","ts":4})"));

  ASSERT_EQ(timeline.slices.size(), 1u);
  EXPECT_EQ(timeline.slices[0].duration_ns, 3000);
  EXPECT_TRUE(timeline.slices[0].unfinished);
}

TEST(Timeline, KeepsInputDimsWhereTheyAreAskedFor) {
  const std::string text = trace_of(slice("a", "1", "2", "\"cat\":\"cpu_op\",\"args\":{\"Input Dims\":[[2, 3],[]]}"));

  const Timeline with = load_timeline_bytes(text, "t", {.input_dims = true});
  const Timeline without = load_timeline_bytes(text, "t");

  EXPECT_EQ(with.texts[with.slices[0].input_dims], "[[2,3],[]]");
  EXPECT_EQ(without.slices[0].input_dims, 0u);
}

}  // namespace
}  // namespace profshim::analysis_detail
