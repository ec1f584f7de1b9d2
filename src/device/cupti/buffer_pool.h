// The host buffers that CUPTI fills: a fixed number, made and touched before the first is asked for. CUPTI takes them
// on whatever thread, also threads of the job, and gives them back filled; the device thread empties them.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "profshim/base/clock.h"

namespace profshim::device {

class BufferPool {
 public:
  struct Filled {
    std::uint8_t* data;
    std::size_t valid;
  };
  struct Counts {
    std::uint64_t refused = 0;      // requests that got nothing
    std::uint64_t reserved = 0;     // requests that were met from the reserve, or with a buffer that nobody reads
    std::uint64_t overwritten = 0;  // full buffers that were handed out again before they had been read
    std::uint64_t unread = 0;       // buffers that nobody reads and that came back with records in them
    std::uint64_t foreign = 0;      // buffers that came back and are not ours
    bool operator==(const Counts&) const = default;
  };

  /// Buffers beside those that are asked for.
  static constexpr std::size_t kReserve = 4;

  ~BufferPool();
  /// Begins to make `count` buffers of `bytes`, kMostBuffers at the most, and a small reserve; each is touched. A step
  /// of the job waits for this, and a megabyte takes a while: the first few only, make_more() makes the others. Later
  /// calls do nothing. False when there is no memory. Device thread, or before it runs; so is make_more().
  bool make(std::size_t count, std::size_t bytes);
  /// One more of them; false when all are made.
  bool make_more();
  std::size_t bytes() const { return bytes_; }

  struct Room {
    std::uint8_t* data;
    std::size_t bytes;
  };
  /// A buffer, nobody else's until it has come back; null only when none is free and CUPTI takes that for an answer
  /// (`may_refuse`), also before make(). Any thread; takes no lock, and memory only where a null is no answer and every
  /// buffer is with CUPTI.
  Room take(bool may_refuse);
  /// Filled by CUPTI. What is longer than the buffer is cut. False: the buffer is not ours, which `counts_foreign`
  /// counts. Any thread, no lock.
  bool complete(std::uint8_t* data, std::size_t valid, bool counts_foreign = true);
  /// When CUPTI took the oldest buffer that it still has; kNoneOutstanding when it has none: records of that time and
  /// later may lie there. Device thread.
  Ticks oldest_outstanding() const;
  static constexpr Ticks kNoneOutstanding = ~Ticks{0};

  /// All that has been completed, oldest first. Device thread.
  std::vector<Filled> take_completed();
  /// Emptied: ready for the next request. Device thread.
  void recycle(std::uint8_t* data);
  /// Buffers that are with CUPTI now are another client's from here on: it may free them, so they are never touched
  /// again. How many of them CUPTI had taken before `before`. Device thread.
  std::uint64_t write_off_outstanding(Ticks before);

  Counts counts() const;

 private:
  static constexpr std::size_t kMostBuffers = 256;
  static constexpr std::uint32_t kNone = 0xffffffff;
  enum class Place : std::uint8_t { kUnused, kFree, kOutstanding, kCompleting, kCompleted, kWrittenOff };
  struct Slot {
    std::atomic<std::uint8_t*> data{nullptr};
    std::atomic<std::uint32_t> next{kNone};
    std::atomic<Place> place{Place::kUnused};
    std::atomic<Ticks> taken{0};
    std::size_t valid = 0;
  };
  /// More requests at a time than there are buffers, each of which must be met. What is written there is lost.
  struct Unread {
    std::atomic<std::uint8_t*> data{nullptr};
    std::atomic<Place> place{Place::kOutstanding};
    std::atomic<Ticks> taken{0};
    Unread* next = nullptr;
  };
  using List = std::atomic<std::uint64_t>;  // tag << 32 | index: a pop is safe against an index that left and came back

  static constexpr std::size_t kAtFirst = 8;
  static constexpr std::size_t kUnreadBytes = 32 << 10;
  Room take_unread();
  bool complete_unread(const std::uint8_t* data, std::size_t valid);
  bool add();
  std::uint32_t index_of(const std::uint8_t* data) const;
  std::uint32_t pop(List& list);
  void push(List& list, std::uint32_t index);

  std::size_t bytes_ = 0;
  std::size_t to_make_ = 0;
  std::atomic<std::uint32_t> made_{0};
  Slot slots_[kMostBuffers];
  List free_{kNone}, reserve_{kNone}, completed_{kNone};
  std::atomic<Unread*> unread_list_{nullptr};  // only ever grows
  std::atomic<std::uint64_t> refused_{0}, reserved_{0}, overwritten_{0}, unread_{0}, foreign_{0};
};

}  // namespace profshim::device
