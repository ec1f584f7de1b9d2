#include <gtest/gtest.h>

#include <map>
#include <set>

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

class AssemblyTest : public test::SpoolFixture {
 protected:
  void SetUp() override {
    make_spool(256);
    recorder::tend_pool([] { return Ticks{1}; }, 128);
    recorder::add_anchor({1, 1, kWall + 1});
    recorder::header().base_time_ns = kWall;
    recorder::header().rank = 3;
    recorder::header().world_size = 4;
  }

  std::vector<Slice> assemble(std::uint64_t window, spool::WindowSummary* summary = nullptr) {
    spool::Assembly assembly(*(view_ = view()), window, {});
    MemorySink sink;
    EXPECT_TRUE(assembly.write(sink, {}));
    if (summary != nullptr) *summary = assembly.summary();
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

TEST_F(AssemblyTest, HoldsWhatBeganInTheWindowOnly) {
  spool::Window* const window = recorder::open_window(100, spool::kNoMark);
  commit_range(50, 150, "before");
  commit_range(100, 120, "first");
  commit_range(199, 250, "crosses the end");
  commit_range(200, 210, "after");
  recorder::close_window(*window, 200, 0, spool::WindowEnd::kSchedule, 0);

  const auto all = assemble(0);

  EXPECT_EQ(named(all, "before").size(), 0u);
  ASSERT_EQ(named(all, "first").size(), 1u);
  EXPECT_EQ(named(all, "first")[0].begin, 100);
  EXPECT_EQ(named(all, "first")[0].end, 120);
  ASSERT_EQ(named(all, "crosses the end").size(), 1u);
  EXPECT_EQ(named(all, "crosses the end")[0].end, 250);
  EXPECT_EQ(named(all, "after").size(), 0u);
}

TEST_F(AssemblyTest, StepsAreMarkedFromBoundaryToBoundaryOnTheStepThread) {
  recorder::header().step_tid = recorder::this_thread()->tid;
  const std::uint64_t first = recorder::add_mark({100, 11, 1011});
  spool::Window* const window = recorder::open_window(100, first);
  commit_range(110, 120, "work");
  recorder::add_mark({200, 12, 1012});
  const std::uint64_t end = recorder::add_mark({300, 13, 1013});
  window->complete = 1;
  recorder::close_window(*window, 300, end, spool::WindowEnd::kSchedule, 0);

  spool::WindowSummary summary;
  const auto all = assemble(0, &summary);

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

TEST_F(AssemblyTest, NumbersThatDoNotCountUpAreReplacedByTheCount) {
  const std::uint64_t first = recorder::add_mark({100, 4, 7});
  spool::Window* const window = recorder::open_window(100, first);
  recorder::add_mark({200, 5, 7});
  recorder::close_window(*window, 300, recorder::add_mark({300, 6, 7}), spool::WindowEnd::kSchedule, 0);

  spool::WindowSummary summary;
  assemble(0, &summary);

  EXPECT_EQ(summary.first_step, 4);
  EXPECT_EQ(summary.last_step, 5);
}

TEST_F(AssemblyTest, APartialOverlapGetsALaneOfItsOwnWithAName) {
  spool::Window* const window = recorder::open_window(100, spool::kNoMark);
  commit_range(100, 200, "outer");
  commit_range(150, 250, "crossing");
  recorder::close_window(*window, 300, 0, spool::WindowEnd::kSchedule, 0);

  const auto all = assemble(0);

  const std::int64_t lane = named(all, "crossing")[0].tid;
  EXPECT_NE(lane, named(all, "outer")[0].tid);
  const auto names = named(all, "thread_name");
  EXPECT_TRUE(std::any_of(names.begin(), names.end(), [lane](const Slice& s) { return s.tid == lane; }));
}

TEST_F(AssemblyTest, WhatWasStillOpenIsShownUnfinished) {
  spool::Window* const window = recorder::open_window(1, spool::kNoMark);
  spool::Thread& t = *recorder::this_thread();
  Event* const call = recorder::open_call(t);
  *call = Event{};
  call->hook = HookId::kNvtxRange;
  call->name = recorder::intern("hung");
  recorder::begin(*call);
  const Ticks end = ticks() + 1000;
  recorder::close_window(*window, end, 0, spool::WindowEnd::kExit, 0);

  const auto hung = named(assemble(0), "hung");

  ASSERT_EQ(hung.size(), 1u);
  EXPECT_EQ(hung[0].end, static_cast<std::int64_t>(end));
  EXPECT_EQ(hung[0].args.count("finished"), 1u);
}

TEST_F(AssemblyTest, ACallIsNotShownTwiceWhenItEndedMeanwhile) {
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

  EXPECT_EQ(named(assemble(0), "once").size(), 1u);
}

TEST_F(AssemblyTest, AnOpenWindowEndsAtTheLastThingKnownAndIsIncomplete) {
  recorder::open_window(100, spool::kNoMark);
  commit_range(150, 400, "last");

  spool::WindowSummary summary;
  const auto all = assemble(0, &summary);

  EXPECT_FALSE(summary.complete);
  EXPECT_EQ(named(all, "Record Window End")[0].begin, 401);
}

TEST_F(AssemblyTest, RangesThatEndElsewhereArePairsOfBeginAndEnd) {
  spool::Window* const window = recorder::open_window(100, spool::kNoMark);
  commit_range(110, 190, "wandering", kStartEnd);
  recorder::close_window(*window, 200, 0, spool::WindowEnd::kSchedule, 0);

  const auto found = named(assemble(0), "wandering");

  ASSERT_EQ(found.size(), 2u);
  EXPECT_EQ(found[0].phase, "b");
  EXPECT_EQ(found[1].phase, "e");
  EXPECT_EQ(found[1].begin, 190);
}

TEST_F(AssemblyTest, EveryLossIsInTheMetadata) {
  spool::Window* const window = recorder::open_window(1, spool::kNoMark);
  for (std::uint64_t i = 0; i < 300ull * spool::kEventsPerChunk; ++i) commit_at(i + 1);
  recorder::problem("nvtx", "another tool has NVTX");
  recorder::close_window(*window, ~Ticks{0} >> 1, 0, spool::WindowEnd::kLimit, recorder::intern("limits.host_memory"));

  spool::WindowSummary summary;
  assemble(0, &summary);

  EXPECT_GT(summary.dropped, 0u);
  EXPECT_EQ(summary.dropped + summary.calls, 300ull * spool::kEventsPerChunk);
  EXPECT_NE(metadata["profshim"].find("\"truncated\":true"), std::string::npos) << metadata["profshim"];
  EXPECT_NE(metadata["profshim"].find("limits.host_memory"), std::string::npos);
  EXPECT_NE(metadata["profshim"].find("another tool has NVTX"), std::string::npos);
  EXPECT_NE(metadata["profshim"].find("\"dropped_events\":" + std::to_string(summary.dropped)), std::string::npos);
}

TEST_F(AssemblyTest, NamesOfAnyBytesSurvive) {
  spool::Window* const window = recorder::open_window(100, spool::kNoMark);
  commit_range(110, 120, "quote \" backslash \\ bell \a tab \t umlaut \xc3\xa4");
  commit_range(130, 140, "broken \xff\xc3 bytes");
  recorder::close_window(*window, 200, 0, spool::WindowEnd::kSchedule, 0);

  const auto all = assemble(0);

  EXPECT_EQ(named(all, "quote \" backslash \\ bell \a tab \t umlaut \xc3\xa4").size(), 1u);
  EXPECT_EQ(named(all, "broken \xef\xbf\xbd\xef\xbf\xbd bytes").size(), 1u);
}

TEST_F(AssemblyTest, NothingButInitAndFinalizeIsEmpty) {
  spool::Window* const window = recorder::open_window(100, spool::kNoMark);
  commit_at(110, hook_by_name("MPI_Init"), 5);
  recorder::close_window(*window, 200, 0, spool::WindowEnd::kExit, 0);
  const auto v = view();

  EXPECT_TRUE(spool::Assembly(*v, 0, {}).empty());
  commit_range(150, 160, "work");
  EXPECT_FALSE(spool::Assembly(*v, 0, {}).empty());
}

}  // namespace
}  // namespace profshim
