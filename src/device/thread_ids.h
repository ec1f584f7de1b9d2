// Which thread of the job made a CUDA call: CUPTI tells the low 32 bits of its pthread_self() only.
#pragma once

#include <atomic>
#include <cstdint>
#include <unordered_map>
#include <vector>

namespace profshim::device {

/// Threads that have met us while they called CUDA: known for sure, also after their end. Any thread adds itself,
/// without a lock; the newest is believed where an address had two threads.
class SeenThreads {
 public:
  void add_this_thread();
  /// gettid(), or 0.
  std::int32_t of(std::uint32_t raw_thread) const;

 private:
  static constexpr std::uint32_t kMost = 4096;   // the newest
  std::atomic<std::uint64_t> seen_[kMost] = {};  // raw << 32 | tid
  std::atomic<std::uint32_t> count_{0};
};

/// Finds the thread whose control block lies at an address with these low bits, among the writable memory of the
/// process, and reads its thread id there. Nothing of the C library's layout is taken for granted: where the id lies is
/// learned from threads that are known.
class ThreadIds {
 public:
  /// The calling thread is known: its id and its place tell where ids lie. Two of them at least.
  void learn_from_this_thread();
  /// Where threads are looked for that have ended; null = nowhere.
  void also_ask(const SeenThreads* seen) { seen_ = seen; }
  /// gettid() of the thread, or 0: it has ended, or is not to be found.
  std::int32_t of(std::uint32_t raw_thread);
  /// A new batch of records: an address may belong to another thread by now, so every id is read anew.
  void begin_batch();

 private:
  struct Known {
    std::uintptr_t address = 0;
    std::int32_t tid = 0;
    bool fresh = false;
  };
  bool learned() const { return known_threads_ >= 2 && !places_.empty(); }
  std::int32_t of_living(std::uint32_t raw_thread);
  std::int32_t tid_at(std::uintptr_t address) const;
  std::uintptr_t find(std::uint32_t raw_thread);
  void read_maps();

  const SeenThreads* seen_ = nullptr;
  int known_threads_ = 0;
  std::vector<std::size_t> places_;  // offsets at which all known threads have their id
  struct Range {
    std::uintptr_t begin, end;
  };
  std::vector<Range> writable_;
  bool maps_read_ = false;
  std::unordered_map<std::uint32_t, Known> known_;
};

}  // namespace profshim::device
