// Which thread of the job made a CUDA call: CUPTI tells the low 32 bits of its pthread_self() only.
#pragma once

#include <atomic>
#include <bitset>
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

/// Places in a thread's control block, in units of four bytes.
using IdPlaces = std::bitset<384>;
/// Where the block of the calling thread holds its id, and perhaps the same number by chance. Empty on machines other
/// than x86-64. Any thread.
IdPlaces id_places_of_this_thread();

/// Finds the thread whose control block lies at an address with these low bits, among the writable memory of the
/// process, and reads its thread id there. Nothing of the C library's layout is taken for granted: where the id lies is
/// learned from threads that are known.
class ThreadIds {
 public:
  /// Two threads at least, since a number may lie somewhere by chance.
  void learn(const IdPlaces& of_a_thread);
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
  bool learned() const { return known_threads_ >= 2 && places_.any(); }
  std::int32_t of_living(std::uint32_t raw_thread);
  std::int32_t tid_at(std::uintptr_t address) const;
  std::uintptr_t find(std::uint32_t raw_thread);
  void read_maps();

  const SeenThreads* seen_ = nullptr;
  int known_threads_ = 0;
  IdPlaces places_;        // where all known threads have their id
  std::size_t id_at_ = 0;  // offset of the first of them
  struct Range {
    std::uintptr_t begin, end;
  };
  std::vector<Range> writable_;
  bool maps_read_ = false;
  std::unordered_map<std::uint32_t, Known> known_;
};

}  // namespace profshim::device
