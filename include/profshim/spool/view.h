#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "profshim/base/rank.h"
#include "profshim/spool/format.h"

namespace profshim::spool {

/// The complete events of a run.
struct Run {
  const RunHeader* header;
  const Event* events;
  std::uint32_t count;
};

/// Returns a sentence about threads that were not recorded; "" = none.
std::string threads_lost_sentence(const SpoolHeader& h);

/// Reads a live spool or a spool file. Checks every offset and id in it.
class View {
 public:
  /// Maps `path` read-only. Returns null and sets `why_not` on failure.
  static std::unique_ptr<View> open(const std::string& path, std::string& why_not);
  /// The caller closes the descriptor.
  static std::unique_ptr<View> open(int fd, std::string& why_not);
  /// The caller owns the memory.
  static std::unique_ptr<View> in_memory(const void* data, std::size_t size, std::string& why_not);
  ~View();

  const SpoolHeader& header() const { return *header_; }
  /// The rank that has written the spool, without its role.
  Rank rank() const;
  /// Returns "" if the id is out of range, or if the text is longer than `longest` and so damaged.
  std::string_view string(StringId id, std::size_t longest = kMaxName) const;
  const Thread& thread(std::uint32_t i) const;
  const ChunkHeader& chunk(std::uint32_t i) const;
  /// Visits the non-empty runs of a chunk in memory order.
  template <class Function>
  void for_each_run(std::uint32_t i, const Function& function) const {
    for (std::uint32_t slot = 1; slot < kSlotsPerChunk;) {
      const Run run = run_at(i, slot);
      if (run.count > 0) function(run);
      slot += 1 + std::min(run.header->room.load(std::memory_order_acquire), kSlotsPerChunk);
    }
  }
  template <class Function>
  void for_each_run(const Function& function) const {
    for (std::uint32_t i = 0; i < header_->chunk_count; ++i) {
      const ChunkState state = chunk(i).state.load(std::memory_order_acquire);
      if (state == ChunkState::kOwned || state == ChunkState::kSealed) for_each_run(i, function);
    }
  }
  /// `number` counts the slots of all chunks, headers included. slot_of() takes only events from for_each_run(), slot()
  /// only numbers from slot_of().
  const Event& slot(std::uint32_t number) const { return slots()[number]; }
  std::uint64_t slot_of(const Event& event) const { return static_cast<std::uint64_t>(&event - slots()); }
  const Window& window(std::uint64_t number) const;  // entry number % kMaxWindows, or kSearchWindow
  const Event& pending(std::uint32_t i) const;
  std::vector<StepMark> marks(std::uint64_t first, std::uint64_t end) const;
  /// Returns the counters at the step boundary `mark`; without values if they were overwritten.
  PerfReading counters(std::uint64_t mark) const;
  std::vector<Anchor> anchors() const;
  std::vector<const Definition*> definitions() const;

 private:
  View() = default;
  const Event* slots() const { return reinterpret_cast<const Event*>(data_ + header_->chunks_at); }
  Run run_at(std::uint32_t chunk, std::uint32_t slot) const;
  const char* data_ = nullptr;
  std::size_t size_ = 0;
  const SpoolHeader* header_ = nullptr;
  bool mapped_ = false;
};

}  // namespace profshim::spool
