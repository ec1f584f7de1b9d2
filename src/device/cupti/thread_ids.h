// Finds the gettid() of a thread by its raw thread: the low 32 bits of pthread_self(), in CUPTI's records.
#pragma once

#include <atomic>
#include <bitset>
#include <cstdint>
#include <unordered_map>
#include <vector>

namespace profshim::device {

/// Remembers threads that ran our code inside CUDA calls, even after they ended. Lock-free.
class SeenThreads {
 public:
  void add_this_thread();
  /// Returns 0 if unknown.
  std::int32_t tid_of(std::uint32_t raw_thread) const;

 private:
  static constexpr std::uint32_t kMost = 4096;
  std::atomic<std::uint64_t> seen_[kMost] = {};  // newest threads: raw << 32 | tid
  std::atomic<std::uint32_t> count_{0};
};

/// Bit n: offset 4 n in a thread control block.
using IdPlaces = std::bitset<384>;
/// Returns the offsets that hold the calling thread's id, some by chance. Empty except on x86-64. Thread-safe.
IdPlaces id_places_of_this_thread();

/// Searches writable memory for thread control blocks. Learns from known threads where the id lies.
class ThreadIds {
 public:
  /// Call for two threads: one thread's id matches other numbers by chance.
  void learn(const IdPlaces& of_a_thread);
  /// `seen` may be null.
  void also_ask(const SeenThreads* seen) { seen_ = seen; }
  /// Returns 0 if unknown.
  std::int32_t tid_of(std::uint32_t raw_thread);
  /// Call before each round of CUPTI records: another thread may have got the address of an ended thread.
  void begin_batch();

 private:
  struct Known {
    std::uintptr_t address = 0;
    std::int32_t tid = 0;
    bool fresh = false;  // `tid` was read after begin_batch()
  };
  bool learned() const { return known_threads_ >= 2 && places_.any(); }
  std::int32_t of_living(std::uint32_t raw_thread);
  std::int32_t tid_at(std::uintptr_t address) const;
  std::uintptr_t find(std::uint32_t raw_thread);
  void read_maps();

  const SeenThreads* seen_ = nullptr;
  int known_threads_ = 0;
  IdPlaces places_;        // common to all known threads
  std::size_t id_at_ = 0;  // byte offset of the first place
  struct Range {
    std::uintptr_t begin, end;
  };
  std::vector<Range> writable_;
  bool maps_read_ = false;
  std::unordered_map<std::uint32_t, Known> known_;
};

}  // namespace profshim::device
