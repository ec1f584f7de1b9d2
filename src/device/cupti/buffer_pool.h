// BufferPool: the host buffers that CUPTI fills. Their number is fixed, and each is allocated and touched before CUPTI
// can get it. CUPTI takes buffers on any thread, also threads of the job, and returns them filled; the device thread
// reads them. Nothing here takes a lock.
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
    std::uint64_t reserved = 0;     // requests that got a buffer of the reserve, a full buffer or an unread buffer
    std::uint64_t overwritten = 0;  // full buffers that CUPTI got again before they were read
    std::uint64_t unread = 0;       // unread buffers that came back with records, which are lost
    std::uint64_t foreign = 0;      // buffers that came back and are not ours
    bool operator==(const Counts&) const = default;
  };

  /// Buffers that make() adds to those that it is asked for.
  static constexpr std::size_t kReserve = 4;

  ~BufferPool();
  /// Begins to make `count` buffers of `bytes` bytes (at most kMostBuffers) and a small reserve. A step of the job
  /// waits for this, and touching a megabyte takes time, so it makes only the first few; make_more() makes the others.
  /// Later calls do nothing. Returns false if there is no memory. Device thread, or before it runs.
  bool make(std::size_t count, std::size_t bytes);
  /// Makes one more buffer. Returns false if all are made. Device thread, or before it runs.
  bool make_more();
  std::size_t bytes() const { return bytes_; }

  struct Room {
    std::uint8_t* data;
    std::size_t bytes;
  };
  /// Hands out a buffer, which no other caller gets until it has come back. If none is free (or before make()), returns
  /// null if CUPTI accepts that (`may_refuse`), otherwise a buffer of the reserve, a full buffer whose records are
  /// lost, or a buffer that nobody reads. Only the last allocates memory. Any thread.
  Room take(bool may_refuse);
  /// Takes a buffer back with `valid` bytes of records; a larger number is cut to the size of the buffer. Returns false
  /// if the buffer is not ours, and counts it if `counts_foreign`. Any thread.
  bool complete(std::uint8_t* data, std::size_t valid, bool counts_foreign = true);
  /// Returns when CUPTI took the oldest buffer that it still has: records of that time and later may be in it. Returns
  /// kNoneOutstanding if it has none. Device thread.
  Ticks oldest_outstanding() const;
  static constexpr Ticks kNoneOutstanding = ~Ticks{0};

  /// Takes all filled buffers, oldest first. Device thread.
  std::vector<Filled> take_completed();
  /// Makes a buffer that has been read free for the next request. Device thread.
  void recycle(std::uint8_t* data);
  /// Gives the buffers that CUPTI now has away to another client, which may free them: they are never touched again.
  /// Returns how many of them CUPTI had taken before `before`. Device thread.
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
  /// A buffer for a request that must be met although every other buffer is with CUPTI. Records in it are lost.
  struct Unread {
    std::atomic<std::uint8_t*> data{nullptr};
    std::atomic<Place> place{Place::kOutstanding};
    std::atomic<Ticks> taken{0};
    Unread* next = nullptr;
  };
  using List = std::atomic<std::uint64_t>;  // a stack: tag << 32 | index of the top. The tag changes with each push and
                                            // pop, against ABA.

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
