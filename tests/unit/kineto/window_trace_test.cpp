#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <map>
#include <set>
#include <thread>

#include "profshim/trace.h"
#include "unit/spool_fixture.h"

namespace profshim {
namespace {

struct Slice {
  std::string phase, name;
  std::int64_t tid = 0, begin = 0, end = 0;
  std::map<std::string, std::string> args;
};

class MemorySink : public ByteSink {
 public:
  bool write(const char* data, std::size_t size) override {
    text.append(data, size);
    return true;
  }
  bool close() override { return true; }
  std::string text;
};

// Ticks are nanoseconds here, and the wall clock is the monotonic one plus this.
constexpr std::int64_t kWall = 7889238'000'000'000 * 220;

class WindowTraceTest : public test::SpoolFixture {
 protected:
  void SetUp() override {
    make_spool(256);
    recorder::tend_pool([] { return Ticks{1}; }, 128);
    recorder::add_anchor({1, 1, kWall + 1});
    recorder::header().base_time_ns = kWall;
    recorder::header().rank = 3;
    recorder::header().world_size = 4;
  }

  std::vector<Slice> build(std::uint64_t window, kineto::WindowSummary* summary = nullptr) {
    kineto::WindowTraceBuilder builder(*(view_ = view()), window, {});
    MemorySink sink;
    EXPECT_TRUE(builder.write(sink, {}));
    if (summary != nullptr) *summary = builder.summary();
    metadata.clear();
    std::vector<Slice> slices;
    TraceVisitor visitor;
    visitor.metadata = [this](std::string_view key, std::string_view json, bool) { metadata[std::string(key)] = json; };
    visitor.event = [&slices](const ReadEvent& e) {
      Slice s{std::string(e.phase), std::string(e.name), e.tid, e.ts_ns, e.ts_ns + e.duration_ns, {}};
      for (const auto& arg : e.args) {
        s.args[std::string(arg.key)] =
            arg.kind == ReadEvent::ReadArg::Kind::kInt ? std::to_string(arg.integer) : std::string(arg.text);
      }
      slices.push_back(std::move(s));
      return true;
    };
    const ReadResult read = read_trace_bytes(sink.text, visitor);
    EXPECT_TRUE(read.ok) << read.error << "\n" << sink.text;
    return slices;
  }

  static std::vector<Slice> named(const std::vector<Slice>& all, std::string_view name) {
    std::vector<Slice> found;
    for (const Slice& s : all) {
      if (s.name == name) found.push_back(s);
    }
    return found;
  }

  static void commit_range(Ticks begin, Ticks end, std::string_view name, std::uint8_t flags = 0) {
    Event e;
    e.begin = begin;
    e.end = end;
    e.hook = HookId::kNvtxRange;
    e.flags = flags;
    e.name = recorder::intern(name);
    recorder::commit(*recorder::this_thread(), e);
  }

  std::unique_ptr<spool::View> view_;
  std::map<std::string, std::string> metadata;
};

TEST_F(WindowTraceTest, MemoryIsAnInstantOfItsThreadAndNoCall) {
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
  MemorySink sink;
  builder.write(sink, {});

  EXPECT_EQ(builder.summary().memory, 4u);
  std::size_t shown = 0;
  for (std::size_t at = 0; (at = sink.text.find("[memory]", at)) != std::string::npos; ++at) ++shown;
  EXPECT_EQ(shown, 3u);
  EXPECT_NE(sink.text.find("\"memory_entries_left_out\": 1"), std::string::npos);
}

TEST_F(WindowTraceTest, HoldsWhatBeganInTheWindowOnly) {
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

TEST_F(WindowTraceTest, APartialOverlapGetsALaneOfItsOwnWithAName) {
  spool::Window* const window = recorder::open_window(100, spool::kNoMark);
  commit_range(100, 200, "outer");
  commit_range(150, 250, "crossing");
  recorder::close_window(*window, 300, 0, spool::WindowEnd::kSchedule, 0);

  const auto all = build(0);

  const std::int64_t lane = named(all, "crossing")[0].tid;
  EXPECT_NE(lane, named(all, "outer")[0].tid);
  const auto names = named(all, "thread_name");
  EXPECT_TRUE(std::any_of(names.begin(), names.end(), [lane](const Slice& s) { return s.tid == lane; }));
}

TEST_F(WindowTraceTest, WhatWasStillOpenIsShownUnfinished) {
  spool::Window* const window = recorder::open_window(1, spool::kNoMark);
  spool::Thread& t = *recorder::this_thread();
  Event* const call = recorder::open_call(t);
  *call = Event{};
  call->hook = HookId::kNvtxRange;
  call->name = recorder::intern("hung");
  recorder::begin(*call);
  const Ticks end = ticks() + 1000;
  recorder::close_window(*window, end, 0, spool::WindowEnd::kExit, 0);

  const auto hung = named(build(0), "hung");

  ASSERT_EQ(hung.size(), 1u);
  EXPECT_EQ(hung[0].end, static_cast<std::int64_t>(end));
  EXPECT_EQ(hung[0].args.count("finished"), 1u);
}

TEST_F(WindowTraceTest, ACallIsNotShownTwiceWhenItEndedMeanwhile) {
  spool::Window* const window = recorder::open_window(1, spool::kNoMark);
  spool::Thread& t = *recorder::this_thread();
  Event* const call = recorder::open_call(t);
  *call = Event{};
  call->hook = HookId::kNvtxRange;
  call->name = recorder::intern("once");
  recorder::begin(*call);
  call->end = ticks();
  recorder::commit(t, *call);  // killed between commit and discard
  recorder::close_window(*window, ticks() + 1, 0, spool::WindowEnd::kExit, 0);

  EXPECT_EQ(named(build(0), "once").size(), 1u);
}

TEST_F(WindowTraceTest, PollsAreCountedAsCalls) {
  recorder::open_window(100, spool::kNoMark);
  Event row;
  row.begin = 150;
  row.end = 300;
  row.hook = HookId::kMpiPolls;
  row.polls = {
      .in_calls = 90, .calls = {3, 4}, .functions = {HookId::MPI_Test, HookId::MPI_Iprobe}, .peer = 1, .tag = 5};
  recorder::commit(*recorder::this_thread(), row);
  row.begin = 400;
  row.end = 410;
  row.polls = {.in_calls = 10, .calls = {1}, .functions = {HookId::MPI_Testany}, .peer = kNone32, .tag = kNone32};
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

TEST_F(WindowTraceTest, AFailedExchangeIsNotShownTwiceEither) {
  spool::Window* const window = recorder::open_window(1, spool::kNoMark);
  spool::Thread& t = *recorder::this_thread();
  Event* const call = recorder::open_call(t);
  *call = Event{};
  call->hook = HookId::MPI_Sendrecv;
  recorder::begin(*call);
  Event ended = *call;
  ended.end = ticks();
  ended.flags |= kFailed | kContinues;  // known at the end only
  recorder::commit(t, ended);           // killed between commit and discard
  recorder::close_window(*window, ticks() + 1, 0, spool::WindowEnd::kExit, 0);

  EXPECT_EQ(named(build(0), "MPI_Sendrecv").size(), 1u);
}

TEST_F(WindowTraceTest, AnOperationThatAnotherThreadCompletesIsNotShownTwice) {
  spool::Window* const window = recorder::open_window(1, spool::kNoMark);
  Event* const operation = recorder::take_pending();
  *operation = Event{};
  operation->hook = HookId::MPI_Irecv;
  operation->flags = kAsyncSlice;
  operation->mpi.request = 7;
  recorder::begin(*operation);
  std::thread([operation] {
    Event done = *operation;
    done.end = ticks();
    recorder::commit(*recorder::this_thread(), done);  // killed before the release
  }).join();
  recorder::close_window(*window, ticks() + 1, 0, spool::WindowEnd::kExit, 0);

  EXPECT_EQ(named(build(0), "MPI_Irecv").size(), 2u);  // one begin, one end
}

// Whatever is running when the window closes is in it, however it ends while the window is put together.
TEST_F(WindowTraceTest, ACallThatEndsMeanwhileIsNotLost) {
  constexpr int kWindows = 200;
  std::atomic<bool> stop{false};
  std::vector<Ticks> begins;
  // Of a thread that lost its core between the reading of the clock and the store, nobody can know at the window's end
  // that it is in a call.
  std::vector<Ticks> held_up;
  std::thread caller([&] {
    spool::Thread& t = *recorder::this_thread();
    while (!stop) {
      Event* const call = recorder::open_call(t);
      *call = Event{};
      call->hook = HookId::MPI_Barrier;
      const Ticks before = ticks();
      recorder::begin(*call);
      const Ticks begin = call->begin;
      if (ticks() - before > 10'000) held_up.push_back(begin);
      while (ticks() < begin + 20'000) {
      }
      recorder::end(t, *call);
      begins.push_back(begin);
    }
  });
  std::vector<Ticks> ends;
  std::vector<Ticks> starts;
  std::vector<std::uint64_t> seen;
  for (int i = 0; i < kWindows; ++i) {
    const Ticks start = ticks();
    spool::Window* const window = recorder::open_window(start, spool::kNoMark);
    while (ticks() < start + 200'000) {
    }
    const Ticks end = ticks();
    recorder::close_window(*window, end, 0, spool::WindowEnd::kSchedule, 0);
    view_ = view();
    seen.push_back(kineto::WindowTraceBuilder(*view_, static_cast<std::uint64_t>(i), {}).summary().calls);
    starts.push_back(start);
    ends.push_back(end);
    window->state = spool::WindowState::kPublished;
  }
  stop = true;
  caller.join();
  for (std::size_t i = 0; i < seen.size(); ++i) {
    const auto in_window = [&](Ticks t) { return t >= starts[i] && t < ends[i]; };
    if (std::any_of(held_up.begin(), held_up.end(), in_window)) continue;
    const auto made = std::count_if(begins.begin(), begins.end(), in_window);
    EXPECT_EQ(seen[i], static_cast<std::uint64_t>(made)) << "window " << i;
  }
}

TEST_F(WindowTraceTest, AnOpenWindowEndsAtTheLastThingKnownAndIsIncomplete) {
  recorder::open_window(100, spool::kNoMark);
  commit_range(150, 400, "last");

  kineto::WindowSummary summary;
  const auto all = build(0, &summary);

  EXPECT_FALSE(summary.complete);
  EXPECT_EQ(named(all, "Record Window End")[0].begin, 401);
}

TEST_F(WindowTraceTest, RangesThatEndElsewhereArePairsOfBeginAndEnd) {
  spool::Window* const window = recorder::open_window(100, spool::kNoMark);
  commit_range(110, 190, "wandering", kStartEnd);
  recorder::close_window(*window, 200, 0, spool::WindowEnd::kSchedule, 0);

  const auto found = named(build(0), "wandering");

  ASSERT_EQ(found.size(), 2u);
  EXPECT_EQ(found[0].phase, "b");
  EXPECT_EQ(found[1].phase, "e");
  EXPECT_EQ(found[1].begin, 190);
}

TEST_F(WindowTraceTest, ARequestToAnotherWorkerIsASliceAndAPairUntilItsAnswer) {
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

// A damaged length must not make a name of everything that lies behind it: it would be in each event that has the name.
TEST_F(WindowTraceTest, ATextLongerThanTheRecorderMakesThemIsNone) {
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

// One text of a megabyte, named by a thousand definitions: the trace grows with the spool, not with their product.
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
    recorder::define(spool::DefinitionKind::kFact, 0, recorder::intern("fact" + std::to_string(i)), ranks);
  }

  const auto v = view();
  kineto::WindowTraceBuilder builder(*v, 0, {});
  MemorySink sink;
  EXPECT_TRUE(builder.write(sink, {}));

  EXPECT_LT(sink.text.size(), 2 * v->header().file_bytes);
  EXPECT_NE(sink.text.find("too many long names and texts"), std::string::npos);
}

TEST_F(WindowTraceTest, NothingButInitAndFinalizeIsEmpty) {
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
