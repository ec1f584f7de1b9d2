#pragma once

#include <atomic>
#include <cstdint>

#include "inject/mpi/communicators.h"
#include "profshim/event.h"

namespace profshim::mpi {

struct Persistent {
  Event model;
  std::atomic<Event*> slice{nullptr};  // null unless started and recorded
  Communicator* collective_on = nullptr;
  std::uint32_t comm_id = 0;  // detects reuse of *collective_on
  std::atomic<std::uint32_t> next_free{0};
};

/// Null if all are in use. Any thread.
Persistent* new_persistent();
void free_persistent(Persistent& persistent);

// An entry of request_table (request_table.h): the address of a slice, or of a Persistent with bit 0 set.
inline std::uint64_t entry_of(const Event* slice) { return reinterpret_cast<std::uint64_t>(slice); }
inline std::uint64_t entry_of(const Persistent* persistent) { return reinterpret_cast<std::uint64_t>(persistent) | 1; }
inline Persistent* persistent_of(std::uint64_t entry) {
  return (entry & 1) != 0 ? reinterpret_cast<Persistent*>(entry - 1) : nullptr;
}
inline Event* slice_of(std::uint64_t entry) { return reinterpret_cast<Event*>(entry); }

}  // namespace profshim::mpi
