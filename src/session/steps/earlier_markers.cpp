#include "earlier_markers.h"

#include <array>
#include <atomic>
#include <functional>

#include "profshim/session.h"

namespace profshim::session {
namespace {

struct Slot {
  std::atomic<std::size_t> hash;  // of the name; 0 = free
  std::atomic<std::uint32_t> count;
};
/// Names that find no slot are not counted.
constinit std::array<Slot, 1024> slots = {};
constexpr std::size_t kReach = 16;

std::size_t hash_of(std::string_view name) { return std::hash<std::string_view>{}(name) | 1; }

}  // namespace

void note_earlier_marker(std::string_view name) {
  const std::size_t hash = hash_of(name);
  for (std::size_t i = 0; i < kReach; ++i) {
    Slot& slot = slots[(hash / 2 + i) % slots.size()];
    std::size_t there = slot.hash.load(std::memory_order_relaxed);
    if (there == 0 && slot.hash.compare_exchange_strong(there, hash)) there = hash;
    if (there != hash) continue;
    slot.count.fetch_add(1, std::memory_order_relaxed);
    return;
  }
}

void forget_earlier_markers() {
  for (Slot& slot : slots) {
    slot.hash = 0;
    slot.count = 0;
  }
}

std::uint32_t earlier_markers(std::string_view name) {
  const std::size_t hash = hash_of(name);
  for (std::size_t i = 0; i < kReach; ++i) {
    const Slot& slot = slots[(hash / 2 + i) % slots.size()];
    if (slot.hash.load(std::memory_order_relaxed) == hash) return slot.count.load(std::memory_order_relaxed);
  }
  return 0;
}

}  // namespace profshim::session
