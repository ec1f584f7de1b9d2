// This program contains the session (src/session) but no hooks.
//   usage: record_threads THREADS RANGES_PER_STEP STEPS [early]
// "early": the recording ends before the threads.
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

#include "profshim/recorder.h"
#include "profshim/session.h"

namespace {

using namespace profshim;

struct Work {
  std::atomic<bool> over{false};
  std::atomic<std::uint64_t> ranges{0};
  std::atomic<std::uint64_t> handed{0};
};

bool recording() { return recorder::mode_has(recorder::kActive | recorder::kArmed | recorder::kNvtx); }

void make_range(Work& work, std::uint64_t i) {
  spool::Thread* const t = recording() ? recorder::this_thread() : nullptr;
  if (t != nullptr) {
    Event range;
    range.hook = HookId::kNvtxRange;
    range.name = recorder::intern("work " + std::to_string(i % 64));
    Event* const pending = i % 8 == 0 ? recorder::take_pending() : nullptr;
    Event* const slot = pending != nullptr ? pending : recorder::open_call(*t);
    if (slot != nullptr) {
      *slot = range;
      if (pending != nullptr) slot->flags = kStartEnd;
      recorder::begin(*slot);
      if (pending != nullptr) {
        Event done = *pending;
        done.end = ticks();
        recorder::commit(*t, done);
        recorder::release_pending(pending);
      } else {
        recorder::end(*t, *slot);
      }
      work.handed.fetch_add(1, std::memory_order_relaxed);
    }
  }
  work.ranges.fetch_add(1, std::memory_order_relaxed);
}

// A limited rate keeps the test from losing ranges.
void breathe(std::uint64_t i) {
  if (i % 1000 == 999) usleep(1000);
}

void work_until_over(Work& work) {
  for (std::uint64_t i = 0; !work.over.load(std::memory_order_relaxed); ++i) {
    make_range(work, i);
    breathe(i);
  }
}

// The recorder must reuse the spool::Thread of an ended thread.
void work_in_short_lives(Work& work) {
  while (!work.over.load(std::memory_order_relaxed)) {
    std::thread([&work] {
      for (std::uint64_t i = 0; i < 100; ++i) make_range(work, i);
    }).join();
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 4) return 2;
  const int threads = std::atoi(argv[1]);
  const auto ranges = static_cast<std::uint64_t>(std::atoll(argv[2]));
  const int steps = std::atoi(argv[3]);
  const bool early = argc > 4 && std::strcmp(argv[4], "early") == 0;

  session::activate({.rank = 0, .world_size = 1, .local_rank = 0, .local_world_size = 1, .source = "mpi"});
  if (recorder::mode() == 0) return 3;
  const bool makes_steps = session::spec()->steps.source != StepSource::kNone;
  Work work;
  std::vector<std::thread> workers;
  for (int i = 0; i < threads; ++i) workers.emplace_back(work_until_over, std::ref(work));
  workers.emplace_back(work_in_short_lives, std::ref(work));
  const StringId marker = recorder::intern("step 0");
  for (int step = 0; step < steps; ++step) {
    if (makes_steps) session::step_boundary(ticks(), step, marker);
    const std::uint64_t until = work.ranges.load() + ranges;
    for (std::uint64_t i = 0; work.ranges.load(std::memory_order_relaxed) < until; ++i) {
      make_range(work, i);
      breathe(i);
    }
    if (makes_steps) session::step_marker_ended(ticks());
  }
  if (early) session::finish(session::End::kNormal);
  work.over.store(true);
  for (std::thread& worker : workers) worker.join();
  session::finish(session::End::kNormal);
  std::printf("{\"handed\": %llu}\n", static_cast<unsigned long long>(work.handed.load()));
  return 0;
}
