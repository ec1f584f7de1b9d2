#include <sys/mman.h>

#include <algorithm>

#include "profshim/recorder_control.h"

namespace profshim::recorder {
namespace {

constexpr int kRounds = 31, kInRound = 64;

}  // namespace

struct ScratchThread::Memory {
  spool::Thread thread;
  spool::RunHeader run;
  Event events[2 * kInRound];
};

ScratchThread::ScratchThread() {
  void* const memory = mmap(nullptr, sizeof(Memory), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return;
  memory_ = static_cast<Memory*>(memory);
  memory_->thread.chunk = spool::kNoChunk;
  memory_->thread.count = &memory_->run.count;
  memory_->thread.chunk_end = std::end(memory_->events);
  rewind();
  own_ = detail::this_thread;
  detail::this_thread = &memory_->thread;
}

ScratchThread::~ScratchThread() {
  if (memory_ == nullptr) return;
  detail::this_thread = own_;
  munmap(memory_, sizeof(Memory));
}

void ScratchThread::rewind() { memory_->thread.next = memory_->events; }

double ScratchThread::cost_ns(const std::function<void()>& make_event) {
  if (memory_ == nullptr) return -1;
  double rounds[kRounds];
  for (double& round : rounds) {
    rewind();
    const std::int64_t start = monotonic_ns();
    for (int i = 0; i < kInRound; ++i) make_event();
    round = static_cast<double>(monotonic_ns() - start) / kInRound;
  }
  std::nth_element(rounds, rounds + kRounds / 2, rounds + kRounds);
  return rounds[kRounds / 2];
}

double measure_event_cost_ns() {
  ScratchThread scratch;
  return scratch.cost_ns([] {
    spool::Thread& t = *detail::this_thread;
    Event* const call = open_call(t);
    *call = Event{};
    begin(*call);
    end(t, *call);
  });
}

}  // namespace profshim::recorder
