// Host buffers for CUPTI. take() and complete() are thread-safe and lock-free.
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
    std::uint64_t refused = 0;      // requests that got null
    std::uint64_t reserved = 0;     // requests that got a reserve, full or Unread buffer
    std::uint64_t overwritten = 0;  // full buffers reused before they were read
    std::uint64_t unread = 0;       // Unread buffers that CUPTI filled
    std::uint64_t foreign = 0;      // other clients' buffers
    bool operator==(const Counts&) const = default;
  };

  /// Extra buffers for take().
  static constexpr std::size_t kReserve = 4;

  ~BufferPool();
  /// Makes kReserve + kAtFirst buffers; make_more() makes the rest, since a step waits for make(). Idempotent. Returns
  /// false if no buffer was made.
  bool make(std::size_t count, std::size_t bytes);
  /// Returns false if no buffer is left to make, or memory is out.
  bool make_more();
  std::size_t bytes() const { return bytes_; }

  struct Room {
    std::uint8_t* data;
    std::size_t bytes;
  };
  /// Returns a free buffer. If there is none: null if `may_refuse`, else a reserve buffer, else a full buffer, whose
  /// records are lost, else an Unread one, whose next records are lost.
  Room take(bool may_refuse);
  /// `valid`: bytes of records. Returns false if the buffer is not ours, or was written off.
  bool complete(std::uint8_t* data, std::size_t valid, bool counts_foreign = true);
  /// Returns when CUPTI took the oldest of the buffers that it has, or that it has completed since take_completed();
  /// kNoneOutstanding = there is none. A thread of CUPTI may complete one at any time.
  Ticks oldest_outstanding() const;
  static constexpr Ticks kNoneOutstanding = ~Ticks{0};

  /// Returns the oldest first.
  std::vector<Filled> take_completed();
  void recycle(std::uint8_t* data);
  /// Gives up outstanding buffers. Returns how many CUPTI took before `before`.
  std::uint64_t write_off_outstanding(Ticks before);

  Counts counts() const;

 private:
  static constexpr std::size_t kMostBuffers = 256;
  static constexpr std::uint32_t kNone = 0xffffffff;
  enum class Place : std::uint8_t { kUnused, kFree, kOutstanding, kCompleted, kRead, kWrittenOff };
  struct Slot {
    std::atomic<std::uint8_t*> data{nullptr};
    std::atomic<std::uint32_t> next{kNone};
    std::atomic<Place> place{Place::kUnused};
    std::atomic<Ticks> taken{0};
    std::size_t valid = 0;
  };
  /// A buffer whose records are lost: see take().
  struct Unread {
    std::atomic<std::uint8_t*> data{nullptr};
    std::atomic<Place> place{Place::kOutstanding};
    std::atomic<Ticks> taken{0};
    Unread* next = nullptr;
  };
  using List = std::atomic<std::uint64_t>;  // tag (against ABA) << 32 | top of the stack

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
  std::atomic<Unread*> unread_list_{nullptr};  // never shrinks
  std::atomic<std::uint64_t> refused_{0}, reserved_{0}, overwritten_{0}, unread_{0}, foreign_{0};
};

}  // namespace profshim::device
