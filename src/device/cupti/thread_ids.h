// ThreadIds: finds the thread id of the thread that made a CUDA call. CUPTI tells only the low 32 bits of its
// pthread_self() (here: the raw thread).
#pragma once

#include <atomic>
#include <bitset>
#include <cstdint>
#include <unordered_map>
#include <vector>

namespace profshim::device {

/// Threads that have run code of ours while they called CUDA. Their ids are certain, also after their end. Any thread
/// adds itself, without a lock. If two threads had the same address, the newer one counts.
class SeenThreads {
 public:
  void add_this_thread();
  /// Returns gettid() of the thread, or 0.
  std::int32_t of(std::uint32_t raw_thread) const;

 private:
  static constexpr std::uint32_t kMost = 4096;   // keeps the newest
  std::atomic<std::uint64_t> seen_[kMost] = {};  // raw << 32 | tid
  std::atomic<std::uint32_t> count_{0};
};

/// A set of places in a thread's control block, in units of four bytes.
using IdPlaces = std::bitset<384>;
/// Returns the places where the control block of the calling thread holds its id. Some may hold the same number by
/// chance. Returns an empty set on machines other than x86-64. Any thread.
IdPlaces id_places_of_this_thread();

/// Searches the writable memory of the process for a thread control block at an address with these low bits, and reads
/// the thread id in it. The place of the id in the block is learned from known threads: the layout of the C library is
/// not assumed. Device thread.
class ThreadIds {
 public:
  /// Learns the place of the id. It takes two threads, since a number may be somewhere by chance.
  void learn(const IdPlaces& of_a_thread);
  /// Sets where to look for threads that have ended; null = nowhere.
  void also_ask(const SeenThreads* seen) { seen_ = seen; }
  /// Returns gettid() of the thread; 0 if it has ended or cannot be found.
  std::int32_t of(std::uint32_t raw_thread);
  /// Begins a batch of records. Every id is read again, since an address may belong to another thread by now.
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
  IdPlaces places_;        // where all known threads have their ids
  std::size_t id_at_ = 0;  // offset of the first of them
  struct Range {
    std::uintptr_t begin, end;
  };
  std::vector<Range> writable_;
  bool maps_read_ = false;
  std::unordered_map<std::uint32_t, Known> known_;
};

}  // namespace profshim::device
