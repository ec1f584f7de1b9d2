#include "persistent_requests.h"

#include "profshim/recorder.h"

namespace profshim::mpi {
namespace {

constexpr std::uint32_t kMaxPersistent = 1u << 14;
constinit Persistent persistents[kMaxPersistent];
constinit std::atomic<std::uint32_t> persistents_used{0};
constinit std::atomic<std::uint64_t> free_persistents{0};  // stack of free entries: change count << 32 | index + 1

}  // namespace

Persistent* new_persistent() {
  std::uint64_t head = free_persistents.load(std::memory_order_acquire);
  while ((head & 0xffffffff) != 0) {
    Persistent& first = persistents[(head & 0xffffffff) - 1];
    const std::uint64_t next = ((head >> 32) + 1) << 32 | first.next_free.load(std::memory_order_relaxed);
    if (free_persistents.compare_exchange_weak(head, next, std::memory_order_acq_rel)) return &first;
  }
  std::uint32_t used = persistents_used.load(std::memory_order_relaxed);
  while (used < kMaxPersistent) {
    if (persistents_used.compare_exchange_weak(used, used + 1, std::memory_order_relaxed)) return &persistents[used];
  }
  recorder::missing("mpi",
                    "more than 16384 persistent requests: operations of further persistent requests are not recorded");
  return nullptr;
}

void free_persistent(Persistent& persistent) {
  std::uint64_t head = free_persistents.load(std::memory_order_relaxed);
  std::uint64_t next = 0;
  do {
    persistent.next_free.store(static_cast<std::uint32_t>(head), std::memory_order_relaxed);
    next = ((head >> 32) + 1) << 32 | static_cast<std::uint64_t>(&persistent - persistents + 1);
  } while (!free_persistents.compare_exchange_weak(head, next, std::memory_order_acq_rel));
}

}  // namespace profshim::mpi
