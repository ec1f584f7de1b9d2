#pragma once

#include <gtest/gtest.h>
#include <sys/mman.h>

#include <memory>
#include <string>
#include <vector>

#include "profshim/recorder_control.h"
#include "profshim/spool/view.h"
#include "unit/temporary_folder.h"

namespace profshim::test {

class SpoolFixture : public ::testing::Test {
 protected:
  void make_spool(std::uint32_t chunks, std::uint64_t arena_bytes = 256 << 10, std::uint32_t counters = 0) {
    use_clock(ClockKind::kMonotonic);
    std::string why_not;
    const recorder::SpoolSize size{.chunks = chunks, .arena_bytes = arena_bytes, .counters = counters};
    ASSERT_TRUE(recorder::create_spool(folder_.path() + "/test.spool", size, why_not)) << why_not;
    recorder::set_mode(recorder::kActive | recorder::kArmed | recorder::kMpi | recorder::kNvtx, 0);
    recorder::tend_pool([] { return Ticks{1}; }, 8);
  }

  void TearDown() override {
    recorder::set_mode(0, ~0u);
    recorder::abandon_in_child();
  }

  static Event range_event(Ticks begin, Ticks end, std::string_view name, std::uint8_t flags = 0) {
    Event event;
    event.begin = begin;
    event.end = end;
    event.hook = HookId::kNvtxRange;
    event.flags = flags;
    event.name = recorder::intern(name);
    return event;
  }

  static void commit_at(Ticks t, HookId hook = HookId::kNvtxRange, Ticks length = 0) {
    Event event;
    event.begin = t;
    event.end = t + length;
    event.hook = hook;
    recorder::commit(*recorder::this_thread(), event);
  }

  /// Fills the short runs of slots that a thread gets first, and begins a whole chunk.
  static void use_whole_chunks() {
    const spool::Thread& t = *recorder::this_thread();
    while (t.next == nullptr || t.chunk_end - t.next < spool::kEventsPerChunk - 1) commit_at(1);
  }

  static std::unique_ptr<spool::View> view() {
    std::string why_not;
    auto made = spool::View::in_memory(recorder::data(), recorder::size(), why_not);
    EXPECT_NE(made, nullptr) << why_not;
    return made;
  }

  static std::vector<Event> all_events() {
    std::vector<Event> found;
    const auto v = view();
    v->for_each_run([&found](const spool::Run& run) { found.insert(found.end(), run.events, run.events + run.count); });
    return found;
  }

  TemporaryFolder folder_;
};

}  // namespace profshim::test
