#include <set>

#include "profshim/hooks/ids.h"
#include "window_trace_fixture.h"

namespace profshim {
namespace {

using test::Slice;
using test::TextSink;
using test::WindowTraceTest;

TEST_F(WindowTraceTest, MemoryIsAnInstantOfItsThreadAndNotACall) {
  spool::Window* const window = recorder::open_window(1000, spool::kNoMark);
  commit_range(1100, 1200, "range");
  Event memory;
  memory.begin = memory.end = 1150;
  memory.hook = HookId::kTorchMemory;
  memory.memory = {.address = 0x7f00, .bytes = 400, .allocated = 400, .device_index = -1};
  recorder::commit(*recorder::this_thread(), memory);
  recorder::close_window(*window, 2000, spool::kNoMark, spool::WindowEnd::kExit, 0);

  kineto::WindowSummary summary;
  const auto found = named(build(0, &summary), "[memory]");

  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].phase, "i");
  EXPECT_EQ(found[0].begin, 1150);
  EXPECT_EQ(found[0].args.at("Bytes"), "400");
  EXPECT_EQ(summary.calls, 1u);
}

TEST_F(WindowTraceTest, TheNewestMemoryIsLeftOutAndCounted) {
  spool::Window* const window = recorder::open_window(1000, spool::kNoMark);
  for (const Ticks begin : {1100, 1400, 1200, 1300}) commit_at(begin, HookId::kTorchMemory);
  recorder::close_window(*window, 2000, spool::kNoMark, spool::WindowEnd::kExit, 0);
  const auto v = view();

  kineto::WindowTraceBuilder builder(*v, 0, {.memory_entries = 3});
  TextSink sink;
  builder.write(sink, {});

  EXPECT_EQ(builder.summary().memory, 4u);
  std::size_t shown = 0;
  for (std::size_t at = 0; (at = sink.text.find("[memory]", at)) != std::string::npos; ++at) ++shown;
  EXPECT_EQ(shown, 3u);
  EXPECT_NE(sink.text.find("\"memory_entries_left_out\": 1"), std::string::npos);
}

TEST_F(WindowTraceTest, HoldsOnlyEventsThatBeganInTheWindow) {
  spool::Window* const window = recorder::open_window(100, spool::kNoMark);
  commit_range(50, 150, "before");
  commit_range(100, 120, "first");
  commit_range(199, 250, "crosses the end");
  commit_range(200, 210, "after");
  recorder::close_window(*window, 200, 0, spool::WindowEnd::kSchedule, 0);

  const auto all = build(0);

  EXPECT_EQ(named(all, "before").size(), 0u);
  ASSERT_EQ(named(all, "first").size(), 1u);
  EXPECT_EQ(named(all, "first")[0].begin, 100);
  EXPECT_EQ(named(all, "first")[0].end, 120);
  ASSERT_EQ(named(all, "crosses the end").size(), 1u);
  EXPECT_EQ(named(all, "crosses the end")[0].end, 250);
  EXPECT_EQ(named(all, "after").size(), 0u);
}

TEST_F(WindowTraceTest, StepsAreMarkedFromBoundaryToBoundaryOnTheStepThread) {
  recorder::header().step_tid = recorder::this_thread()->tid;
  const std::uint64_t first = recorder::add_mark({100, 11, 1011});
  spool::Window* const window = recorder::open_window(100, first);
  commit_range(110, 120, "work");
  recorder::add_mark({200, 12, 1012});
  const std::uint64_t end = recorder::add_mark({300, 13, 1013});
  window->complete = 1;
  recorder::close_window(*window, 300, end, spool::WindowEnd::kSchedule, 0);

  kineto::WindowSummary summary;
  const auto all = build(0, &summary);

  EXPECT_EQ(summary.first_step, 1011);
  EXPECT_EQ(summary.last_step, 1012);
  EXPECT_TRUE(summary.complete);
  ASSERT_EQ(named(all, "ProfilerStep#1011").size(), 1u);
  ASSERT_EQ(named(all, "ProfilerStep#1012").size(), 1u);
  EXPECT_EQ(named(all, "ProfilerStep#1011")[0].begin, 100);
  EXPECT_EQ(named(all, "ProfilerStep#1011")[0].end, 200);
  EXPECT_EQ(named(all, "ProfilerStep#1012")[0].end, 300);
  EXPECT_EQ(named(all, "ProfilerStep#1011")[0].tid, recorder::this_thread()->tid);
  EXPECT_TRUE(named(all, "ProfilerStep#1013").empty());
}

TEST_F(WindowTraceTest, AStepHasTheCpuTimeBetweenItsBoundariesIfBothKnowIt) {
  spool::Window* const window = recorder::open_window(100, recorder::add_mark({100, 1, 1, 5000}));
  recorder::add_mark({200, 2, 2, 5750});
  recorder::add_mark({300, 3, 3});
  recorder::add_mark({400, 4, 4, 9000});
  recorder::close_window(*window, 500, recorder::add_mark({500, 5, 5, 11000}), spool::WindowEnd::kSchedule, 0);

  const auto all = build(0);

  const auto has_cpu = [&](const char* step) { return named(all, step).at(0).args.count("CPU (us)"); };
  EXPECT_EQ(named(all, "ProfilerStep#1").at(0).args.at("CPU (us)"), "0.75");
  EXPECT_EQ(has_cpu("ProfilerStep#2"), 0u);
  EXPECT_EQ(has_cpu("ProfilerStep#3"), 0u);
  EXPECT_EQ(named(all, "ProfilerStep#4").at(0).args.at("CPU (us)"), "2");
}

TEST_F(WindowTraceTest, ALastStepThatEndsBetweenBoundariesHasNoCpuTime) {
  spool::Window* const window = recorder::open_window(100, recorder::add_mark({100, 1, 1, 5000}));
  recorder::close_window(*window, 300, 1, spool::WindowEnd::kLimit, 0);
  recorder::add_mark({350, 2, 2, 9000});

  EXPECT_EQ(named(build(0), "ProfilerStep#1").at(0).args.count("CPU (us)"), 0u);
}

TEST_F(WindowTraceTest, TheStepsOfTheJobsOwnProfilerAreLeftOut) {
  for (const bool has_steps : {true, false}) {
    spool::Window* const window =
        recorder::open_window(100, has_steps ? recorder::add_mark({100, 11, 11}) : spool::kNoMark);
    commit_range(120, 180, "ProfilerStep#10");
    const std::uint64_t end = has_steps ? recorder::add_mark({200, 12, 12}) : spool::kNoMark;
    recorder::close_window(*window, 200, end, spool::WindowEnd::kSchedule, 0);

    const auto all = build(has_steps ? 0 : 1);

    EXPECT_EQ(named(all, "ProfilerStep#11").size(), has_steps ? 1u : 0u);
    EXPECT_EQ(named(all, "ProfilerStep#10").size(), has_steps ? 0u : 2u);
  }
}

TEST_F(WindowTraceTest, TheStepThatTheEndOfTheJobCutsIsMarked) {
  spool::Window* const window = recorder::open_window(100, recorder::add_mark({100, 11, 11}));
  recorder::add_mark({200, 12, 12});
  recorder::close_window(*window, 300, recorder::header().marks.load(), spool::WindowEnd::kExit, 0);

  const auto all = build(0);

  EXPECT_EQ(named(all, "ProfilerStep#11")[0].args.count("finished"), 0u);
  EXPECT_EQ(named(all, "ProfilerStep#12")[0].args.at("finished"), "false");
}

TEST_F(WindowTraceTest, TheStepBeforeTheFirstMarkerIsMarkedIfMarkersEndSteps) {
  for (const bool ends : {true, false}) {
    recorder::header().markers_end_steps = ends ? 1 : 0;
    spool::Window* const window = recorder::open_window(100, recorder::add_mark({100, 0, 0}));
    recorder::add_mark({200, 1, 1});
    recorder::close_window(*window, 300, recorder::add_mark({300, 2, 2}), spool::WindowEnd::kSchedule, 0);

    const auto all = build(ends ? 0 : 1);

    EXPECT_EQ(named(all, "ProfilerStep#0")[0].args.count("finished"), ends ? 1u : 0u);
    EXPECT_EQ(named(all, "ProfilerStep#1")[0].args.count("finished"), 0u);
  }
}

// In a damaged spool, a window may begin before its first step.
TEST_F(WindowTraceTest, AStepThatOverlapsACallInPartHasANamedOverflowTrack) {
  const std::int32_t tid = recorder::this_thread()->tid;
  recorder::header().step_tid = tid;
  spool::Window* const window = recorder::open_window(100, recorder::add_mark({120, 1, 1}));
  commit_range(110, 250, "across the boundary");
  recorder::add_mark({200, 2, 2});
  recorder::close_window(*window, 300, recorder::add_mark({300, 3, 3}), spool::WindowEnd::kSchedule, 0);

  const auto all = build(0);

  const auto step = named(all, "ProfilerStep#2");
  ASSERT_EQ(step.size(), 1u);
  EXPECT_NE(step[0].tid, tid);
  const auto names = named(all, "thread_name");
  EXPECT_TRUE(std::any_of(names.begin(), names.end(), [&](const Slice& s) { return s.tid == step[0].tid; }));
}

TEST_F(WindowTraceTest, NumbersThatDoNotCountUpAreReplacedByTheCount) {
  const std::uint64_t first = recorder::add_mark({100, 4, 7});
  spool::Window* const window = recorder::open_window(100, first);
  recorder::add_mark({200, 5, 7});
  recorder::close_window(*window, 300, recorder::add_mark({300, 6, 7}), spool::WindowEnd::kSchedule, 0);

  kineto::WindowSummary summary;
  build(0, &summary);

  EXPECT_EQ(summary.first_step, 4);
  EXPECT_EQ(summary.last_step, 5);
}

TEST_F(WindowTraceTest, PartialOverlapGetsANamedOverflowTrack) {
  spool::Window* const window = recorder::open_window(100, spool::kNoMark);
  commit_range(100, 200, "outer");
  commit_range(150, 250, "crossing");
  recorder::close_window(*window, 300, 0, spool::WindowEnd::kSchedule, 0);

  const auto all = build(0);

  const std::int64_t overflow = named(all, "crossing")[0].tid;
  EXPECT_NE(overflow, named(all, "outer")[0].tid);
  const auto names = named(all, "thread_name");
  EXPECT_TRUE(std::any_of(names.begin(), names.end(), [overflow](const Slice& s) { return s.tid == overflow; }));
}

TEST_F(WindowTraceTest, PollsAreCountedAsCalls) {
  recorder::open_window(100, spool::kNoMark);
  Event row;
  row.begin = 150;
  row.end = 300;
  row.hook = HookId::kMpiPolls;
  row.polls = {.in_calls = 90, .calls = {3, 4}, .functions = {hooks::MPI_Test, hooks::MPI_Iprobe}, .peer = 1, .tag = 5};
  recorder::commit(*recorder::this_thread(), row);
  row.begin = 400;
  row.end = 410;
  row.polls = {.in_calls = 10, .calls = {1}, .functions = {hooks::MPI_Testany}, .peer = kNone32, .tag = kNone32};
  recorder::commit(*recorder::this_thread(), row);

  kineto::WindowSummary summary;
  const auto all = build(0, &summary);

  EXPECT_EQ(summary.calls, 8u);
  const auto polls = named(all, "MPI polling");
  ASSERT_EQ(polls.size(), 1u);
  EXPECT_EQ(polls[0].args.at("MPI_Test"), "3");
  EXPECT_EQ(polls[0].args.at("MPI_Iprobe"), "4");
  EXPECT_EQ(polls[0].args.at("source"), "1");
  EXPECT_EQ(polls[0].args.at("tag"), "5");
  EXPECT_EQ(named(all, "MPI_Testany").size(), 1u);
}

TEST_F(WindowTraceTest, RangesThatEndOnAnotherThreadArePairsOfBeginAndEnd) {
  spool::Window* const window = recorder::open_window(100, spool::kNoMark);
  commit_range(110, 190, "wandering", kStartEnd);
  recorder::close_window(*window, 200, 0, spool::WindowEnd::kSchedule, 0);

  const auto found = named(build(0), "wandering");

  ASSERT_EQ(found.size(), 2u);
  EXPECT_EQ(found[0].phase, "b");
  EXPECT_EQ(found[1].phase, "e");
  EXPECT_EQ(found[1].begin, 190);
}

TEST_F(WindowTraceTest, RpcRequestIsASliceAndAPairUntilItsAnswer) {
  spool::Window* const window = recorder::open_window(100, spool::kNoMark);
  spool::Thread* const thread = recorder::this_thread();
  Event request{.begin = 110, .end = 120, .hook = HookId::kTorchRpc, .name = recorder::intern("rpc_backward(a -> b)")};
  request.rpc = {.id = 7, .bytes = 59, .from = recorder::intern("a"), .to = recorder::intern("b")};
  recorder::commit(*thread, request);
  request.end = 190;
  request.flags = kStartEnd | kFailed;
  request.rpc.began_on = 4242;
  recorder::commit(*thread, request);
  recorder::close_window(*window, 200, 0, spool::WindowEnd::kSchedule, 0);

  const auto found = named(build(0), "rpc_backward(a -> b)");

  ASSERT_EQ(found.size(), 3u);
  const auto sent = std::find_if(found.begin(), found.end(), [](const auto& e) { return e.phase == "X"; });
  ASSERT_NE(sent, found.end());
  EXPECT_EQ(sent->args.at("rpc"), "sent");
  EXPECT_EQ(sent->args.at("id"), "7");
  EXPECT_EQ(sent->args.at("from"), "a");
  EXPECT_FALSE(sent->args.contains("failed"));
  const auto begin = std::find_if(found.begin(), found.end(), [](const auto& e) { return e.phase == "b"; });
  ASSERT_NE(begin, found.end());
  EXPECT_EQ(begin->tid, 4242);
  EXPECT_EQ(begin->args.at("rpc"), "request");
  EXPECT_EQ(begin->args.at("failed"), "true");
}

TEST_F(WindowTraceTest, EveryLossIsInTheMetadata) {
  spool::Window* const window = recorder::open_window(1, spool::kNoMark);
  for (std::uint64_t i = 0; i < 300ull * spool::kEventsPerChunk; ++i) commit_at(i + 1);
  recorder::problem("nvtx", "another tool has NVTX");
  recorder::close_window(*window, ~Ticks{0} >> 1, 0, spool::WindowEnd::kLimit, recorder::intern("limits.host_memory"));

  kineto::WindowSummary summary;
  build(0, &summary);

  EXPECT_GT(summary.dropped, 0u);
  EXPECT_EQ(summary.dropped + summary.calls, 300ull * spool::kEventsPerChunk);
  EXPECT_NE(metadata["profshim"].find("\"truncated\":true"), std::string::npos) << metadata["profshim"];
  EXPECT_NE(metadata["profshim"].find("limits.host_memory"), std::string::npos);
  EXPECT_NE(metadata["profshim"].find("another tool has NVTX"), std::string::npos);
  EXPECT_NE(metadata["profshim"].find("\"dropped_events\":" + std::to_string(summary.dropped)), std::string::npos);
}

TEST_F(WindowTraceTest, NamesOfAnyBytesSurvive) {
  spool::Window* const window = recorder::open_window(100, spool::kNoMark);
  commit_range(110, 120, "quote \" backslash \\ bell \a tab \t umlaut \xc3\xa4");
  commit_range(130, 140, "broken \xff\xc3 bytes");
  recorder::close_window(*window, 200, 0, spool::WindowEnd::kSchedule, 0);

  const auto all = build(0);

  EXPECT_EQ(named(all, "quote \" backslash \\ bell \a tab \t umlaut \xc3\xa4").size(), 1u);
  EXPECT_EQ(named(all, "broken \xef\xbf\xbd\xef\xbf\xbd bytes").size(), 1u);
}

// A damaged length could make a name show the spool's following bytes.
TEST_F(WindowTraceTest, TextWithAnImpossibleLengthIsEmpty) {
  spool::Window* const window = recorder::open_window(100, spool::kNoMark);
  commit_range(110, 120, "work");
  recorder::close_window(*window, 200, 0, spool::WindowEnd::kSchedule, 0);
  const StringId id = recorder::intern("work");
  auto* const header = reinterpret_cast<spool::StringHeader*>(const_cast<char*>(view()->string(id).data())) - 1;

  header->length = spool::kMaxName;
  EXPECT_EQ(view()->string(id).size(), spool::kMaxName);
  header->length = spool::kMaxName + 1;
  EXPECT_EQ(view()->string(id), "");
  EXPECT_EQ(view()->string(id, spool::kMaxText).size(), spool::kMaxName + 1);

  EXPECT_EQ(named(build(0), "(name lost)").size(), 1u);
}

class TextsOfASpool : public test::SpoolFixture {};

TEST_F(TextsOfASpool, AreNotMultipliedByDefinitions) {
  make_spool(8, 4 << 20);
  spool::Window* const window = recorder::open_window(100, spool::kNoMark);
  commit_at(110);
  recorder::close_window(*window, 200, 0, spool::WindowEnd::kSchedule, 0);
  const std::string blank(spool::kMaxText - 2, ' ');
  const StringId ranks = recorder::intern("[" + blank + "]", spool::kMaxText);
  ASSERT_NE(ranks, 0u);
  for (std::uint32_t i = 0; i < 1000; ++i) {
    recorder::define(spool::DefinitionKind::kCommunicator, 10 + i, recorder::intern("group"), ranks);
    recorder::define(spool::DefinitionKind::kMetadata, 0, recorder::intern("fact" + std::to_string(i)), ranks);
  }

  const auto v = view();
  kineto::WindowTraceBuilder builder(*v, 0, {});
  TextSink sink;
  EXPECT_TRUE(builder.write(sink, {}));

  EXPECT_LT(sink.text.size(), 2 * v->header().file_bytes);
  EXPECT_NE(sink.text.find("too many long names and texts"), std::string::npos);
}

TEST_F(WindowTraceTest, IsGivenUpWithinAFewThousandEvents) {
  spool::Window* const window = recorder::open_window(100, spool::kNoMark);
  for (Ticks t = 110; t < 110 + 9000; ++t) commit_at(t);
  recorder::close_window(*window, 10000, 0, spool::WindowEnd::kExit, 0);
  const auto v = view();
  kineto::WindowTraceOptions options;
  bool ends = true;
  options.give_up = [&] { return ends; };

  EXPECT_THROW(kineto::WindowTraceBuilder(*v, 0, options), kineto::GivenUp);

  ends = false;
  kineto::WindowTraceBuilder builder(*v, 0, options);
  ends = true;
  TextSink sink;
  EXPECT_THROW(builder.write(sink, {}), kineto::GivenUp);
}

TEST_F(WindowTraceTest, WindowWithOnlyInitAndFinalizeIsEmpty) {
  spool::Window* const window = recorder::open_window(100, spool::kNoMark);
  commit_at(110, hook_by_name("MPI_Init"), 5);
  recorder::close_window(*window, 200, 0, spool::WindowEnd::kExit, 0);
  const auto v = view();

  EXPECT_TRUE(kineto::WindowTraceBuilder(*v, 0, {}).empty());
  commit_range(150, 160, "work");
  EXPECT_FALSE(kineto::WindowTraceBuilder(*v, 0, {}).empty());
}

}  // namespace
}  // namespace profshim
