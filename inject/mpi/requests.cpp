#include "requests.h"

#include <atomic>
#include <new>

#include "rows.h"

namespace profshim::mpi {
namespace {

// ---- the multimap
// ----------------------------------------------------------------------------------------------------
//
// Linear probing without tombstones: an entry lies within `reach` slots of its home, `live` of them exist. Both are
// only hints for how far to look; a slot's key decides.

constexpr std::uint32_t kSlots = 1u << 17;
constexpr std::uint64_t kFree = 0, kClaimed = 2;  // no request has these values

struct Slot {
  std::atomic<std::uint64_t> handle{kFree};
  std::atomic<std::uint64_t> entry{0};
  std::atomic<const void*> address{nullptr};
};
struct Home {
  std::atomic<std::uint32_t> live{0}, reach{0};
};
constinit Slot slots[kSlots];
constinit Home homes[kSlots];

std::uint32_t home_of(Handle handle) {
  return static_cast<std::uint32_t>((handle * 0x9e3779b97f4a7c15ull) >> 47) % kSlots;
}

bool put(Handle handle, std::uint64_t entry, const void* address) {
  const std::uint32_t at = home_of(handle);
  Home& home = homes[at];
  // Equal handles come in runs; what lies before `live` is most likely taken.
  for (std::uint32_t i = home.live.load(std::memory_order_relaxed); i < kSlots; ++i) {
    Slot& slot = slots[(at + i) % kSlots];
    std::uint64_t expected = kFree;
    if (slot.handle.load(std::memory_order_relaxed) != kFree ||
        !slot.handle.compare_exchange_strong(expected, kClaimed, std::memory_order_acquire)) {
      continue;
    }
    slot.entry.store(entry, std::memory_order_relaxed);
    slot.address.store(address, std::memory_order_relaxed);
    std::uint32_t reach = home.reach.load(std::memory_order_relaxed);
    while (reach <= i && !home.reach.compare_exchange_weak(reach, i + 1, std::memory_order_relaxed)) {
    }
    home.live.fetch_add(1, std::memory_order_relaxed);
    slot.handle.store(handle, std::memory_order_release);  // pairs with the acquire in take()
    return true;
  }
  recorder::problem("mpi", "more than 131072 requests at a time: non-blocking operations without completion");
  return false;
}

/// Where the last look began and ended: a Waitall over many equal handles must not look at each from the start.
struct Cursor {
  Handle handle = 0;
  std::uint32_t at = 0;
};

struct Place {
  std::uint32_t slot = 0;
  std::uint64_t entry = 0;  // 0 = none
};

Place find(Handle handle, const void* address, Cursor& cursor) {
  const std::uint32_t at = home_of(handle);
  const Home& home = homes[at];
  const std::uint32_t live = home.live.load(std::memory_order_relaxed);
  if (live == 0) return {};
  const std::uint32_t reach = home.reach.load(std::memory_order_relaxed);
  const std::uint32_t first = cursor.handle == handle && cursor.at < reach ? cursor.at : 0;
  Place found;
  std::uint32_t seen = 0;
  for (std::uint32_t n = 0; n < reach && seen < live; ++n) {
    const std::uint32_t i = first + n < reach ? first + n : first + n - reach;
    const Slot& slot = slots[(at + i) % kSlots];
    if (slot.handle.load(std::memory_order_acquire) != handle) continue;
    ++seen;
    const bool exact = slot.address.load(std::memory_order_relaxed) == address;
    if (found.entry != 0 && !exact) continue;
    found = {(at + i) % kSlots, slot.entry.load(std::memory_order_relaxed)};
    // The next of a row of equal handles lies behind this one.
    cursor = {handle, i + 1};
    if (exact) break;
  }
  return found;
}

/// False when another thread has taken it meanwhile.
bool take(const Place& place, Handle handle) {
  Slot& slot = slots[place.slot];
  std::uint64_t expected = handle;
  if (!slot.handle.compare_exchange_strong(expected, kClaimed, std::memory_order_acq_rel)) return false;
  if (slot.entry.load(std::memory_order_relaxed) != place.entry) {
    slot.handle.store(handle, std::memory_order_release);
    return false;
  }
  slot.handle.store(kFree, std::memory_order_release);
  homes[home_of(handle)].live.fetch_sub(1, std::memory_order_relaxed);
  return true;
}

// ---- persistent requests
// ---------------------------------------------------------------------------------------------

struct Persistent {
  Event model;
  std::atomic<Event*> slice{nullptr};  // while started and recorded
  Communicator* collective_on = nullptr;
  std::uint32_t comm_id = 0;  // the table entry of a freed communicator may serve another one
  std::atomic<std::uint32_t> next_free{0};
};
constexpr std::uint32_t kMaxPersistent = 1u << 14;
constinit Persistent persistents[kMaxPersistent];
constinit std::atomic<std::uint32_t> persistents_used{0};
constinit std::atomic<std::uint64_t> free_persistents{0};  // change count << 32 | index + 1

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
  recorder::problem("mpi", "more than 16384 persistent requests: the operations of the others are not shown");
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

// An entry is the address of a slice, or that of a persistent request with the lowest bit set.
std::uint64_t entry_of(const Event* slice) { return reinterpret_cast<std::uint64_t>(slice); }
std::uint64_t entry_of(const Persistent* persistent) { return reinterpret_cast<std::uint64_t>(persistent) | 1; }
Persistent* persistent_of(std::uint64_t entry) {
  return (entry & 1) != 0 ? reinterpret_cast<Persistent*>(entry - 1) : nullptr;
}
Event* slice_of(std::uint64_t entry) { return reinterpret_cast<Event*>(entry); }

/// Where another thread has taken `place`, another entry of an equal handle is as good. Null when there is none.
Event* take_slice(Place place, Handle handle, const void* address) {
  while (place.entry != 0 && persistent_of(place.entry) == nullptr) {
    if (take(place, handle)) return slice_of(place.entry);
    Cursor cursor;
    place = find(handle, address, cursor);
  }
  return nullptr;
}

// ---- slices
// ----------------------------------------------------------------------------------------------------------

constinit std::atomic<std::uint32_t> last_request{0};

Event* open_slice(const Event& model, std::uint32_t id, Ticks begin) {
  Event* const slice = recorder::take_pending();
  if (slice == nullptr) return nullptr;
  Event copy = model;
  copy.begin = copy.end = 0;
  copy.flags = static_cast<std::uint8_t>((copy.flags | kAsyncSlice) & ~kContinues);
  copy.mpi.request = id;
  *slice = copy;
  recorder::begin(*slice);
  slice->begin = begin;
  detail::open_operations.fetch_add(1, std::memory_order_relaxed);
  return slice;
}

void close_slice(Event* slice) {
  if (slice == nullptr) return;
  recorder::release_pending(slice);
  detail::open_operations.fetch_sub(1, std::memory_order_relaxed);
}

bool receives(const Event& slice) {
  const Row* const row = find_row(slice.hook);
  return row != nullptr && row->receives();
}

bool wants_status(std::uint64_t entry) {
  const Persistent* const persistent = persistent_of(entry);
  const Event* const slice =
      persistent != nullptr ? persistent->slice.load(std::memory_order_relaxed) : slice_of(entry);
  return slice != nullptr && (slice->mpi.peer == kNone32 || slice->mpi.tag == kNone32) && receives(*slice);
}

bool is_request(Handle request) { return request != abi().request_null && request != 0; }

}  // namespace

namespace detail {
constinit std::atomic<std::uint32_t> open_operations{0};
}

std::uint32_t request_posted(const Event& post, Handle request, const void* address) {
  if (!is_request(request)) return 0;
  const std::uint32_t id = last_request.fetch_add(1, std::memory_order_relaxed) + 1;
  Event* const slice = open_slice(post, id, post.begin);
  if (slice == nullptr) return 0;
  if (put(request, entry_of(slice), address)) return id;
  close_slice(slice);
  return 0;
}

void request_prepared(const Event& model, Communicator* collective_on, Handle request, const void* address) {
  if (!is_request(request)) return;
  Persistent* const persistent = new_persistent();
  if (persistent == nullptr) return;
  persistent->model = model;
  persistent->slice.store(nullptr, std::memory_order_relaxed);
  persistent->collective_on = collective_on;
  persistent->comm_id = collective_on != nullptr ? collective_on->id : 0;
  if (!put(request, entry_of(persistent), address)) free_persistent(*persistent);
}

void request_started(Event* start, bool only_one, Handle request, const void* address) {
  Cursor cursor;
  Persistent* const persistent = persistent_of(find(request, address, cursor).entry);
  if (persistent != nullptr) {
    Communicator* const comm = persistent->collective_on;
    if (comm != nullptr && comm->id == persistent->comm_id) persistent->model.mpi.sequence = next_sequence(*comm);
    if (start != nullptr) {
      const std::uint32_t id = last_request.fetch_add(1, std::memory_order_relaxed) + 1;
      Event* const slice = open_slice(persistent->model, id, start->begin);
      close_slice(persistent->slice.exchange(slice));
      if (only_one) start->mpi = persistent->model.mpi;
      if (only_one && slice != nullptr) start->mpi.request = id;
    }
  }
}

void request_freed(Handle request, const void* address) {
  Place place;
  do {
    Cursor cursor;
    place = find(request, address, cursor);
    if (place.entry == 0) return;
  } while (!take(place, request));
  if (Persistent* const persistent = persistent_of(place.entry)) {
    close_slice(persistent->slice.exchange(nullptr));
    free_persistent(*persistent);
  } else {
    close_slice(slice_of(place.entry));
  }
}

// ---- completion
// ------------------------------------------------------------------------------------------------------

Completion::Completion(Call& call) : call_(call) {
  switch (call.row.behavior) {
    case Behavior::Wait:
    case Behavior::Test:
      n_ = 1;
      break;
    default:
      array_ = 1;
      n_ = call.number(0);
  }
  if (n_ <= 0 || !any_open_operation()) {
    n_ = 0;
    return;
  }
  if (n_ > kInline) {
    found_ = new (std::nothrow) Found[static_cast<std::size_t>(n_)];
    if (found_ == nullptr) {
      recorder::problem("mpi", "no memory to follow a completion of very many requests");
      found_ = inline_;
      n_ = 0;
      return;
    }
  }
  find_all();
}

Completion::~Completion() {
  if (found_ != inline_) delete[] found_;
}

void Completion::find_all() {
  Cursor cursor;
  bool wildcard = false;
  for (int i = 0; i < n_; ++i) {
    const Handle handle = call_.request_in(array_, i);
    const void* const address = call_.request_address(array_, i);
    const Place place = is_request(handle) ? find(handle, address, cursor) : Place{};
    found_[i] = {place.slot, place.entry, handle, address};
    wildcard = wildcard || (place.entry != 0 && wants_status(place.entry));
  }
  if (!wildcard) return;
  if (call_.row.has(Role::Status)) {
    call_.want_status();
  } else {
    want_statuses();
  }
}

// Errors come out the same: both Open MPI and MPICH return MPI_ERR_IN_STATUS whether or not there are statuses.
void Completion::want_statuses() {
  if (!call_.ignores_statuses()) return;
  int* room = statuses_;
  if (n_ > kInline) {
    many_statuses_.reset(new (std::nothrow) int[static_cast<std::size_t>(n_) * kMaxStatusInts]);
    room = many_statuses_.get();
  }
  if (room != nullptr) call_.word(Role::Statuses) = reinterpret_cast<std::uint64_t>(room);
}

void Completion::finish(int result) {
  if (n_ == 0 || (result == 0 && call_.was_unsuccessful_poll())) return;
  end_ = ticks();
  const bool failed = result != 0;
  const auto out = [this](int argument) { return *static_cast<const int*>(call_.address(argument)); };
  const auto index = [&](int argument) { return out(argument) - (call_.fortran ? 1 : 0); };
  switch (call_.row.behavior) {
    case Behavior::Wait:
    case Behavior::Waitall:
    case Behavior::Test:
    case Behavior::Testall:
      complete_all(failed);
      break;
    case Behavior::Waitany:
      complete_one(index(2), failed);
      break;
    case Behavior::Testany:
      complete_one(index(2), failed);
      break;
    default:
      complete_some(failed);
  }
}

const int* Completion::status(int k) const {
  if (call_.row.has(Role::Status))
    return call_.ignores_status() ? nullptr : static_cast<const int*>(call_.address(Role::Status));
  if (call_.ignores_statuses()) return nullptr;
  return static_cast<const int*>(call_.address(Role::Statuses)) + std::ptrdiff_t{abi().status_ints} * k;
}

void Completion::complete_all(bool failed) {
  for (int i = 0; i < n_; ++i) {
    // After an error some may still pend: those keep their handle. A persistent request always does.
    const bool kept = found_[i].entry != 0 && call_.request_in(array_, i) == found_[i].handle;
    if (failed && kept && persistent_of(found_[i].entry) == nullptr) continue;
    complete(i, status(i), failed);
  }
}

void Completion::complete_one(int i, bool failed) {
  if (i >= 0 && i < n_) complete(i, status(0), failed);
}

void Completion::complete_some(bool failed) {
  const int done = *static_cast<const int*>(call_.address(2));  // negative: MPI_UNDEFINED
  const int* const indices = static_cast<const int*>(call_.address(3));
  for (int k = 0; k < done && k < n_; ++k) {
    const int i = indices[k] - (call_.fortran ? 1 : 0);
    if (i >= 0 && i < n_) complete(i, status(k), failed);
  }
}

void Completion::complete(int i, const int* status, bool failed) {
  const Found& found = found_[i];
  if (found.entry == 0) return;
  Persistent* const persistent = persistent_of(found.entry);
  Event* const slice = persistent != nullptr ? persistent->slice.exchange(nullptr)  // the request stays, inactive
                                             : take_slice({found.slot, found.entry}, found.handle, found.address);
  if (slice == nullptr) return;
  // Its window may have closed since the post, and not have been written yet.
  Event done = *slice;
  done.end = end_;
  if (failed) done.flags |= kFailed;
  if (status != nullptr && receives(done)) take_source_and_tag(status, done.mpi);
  recorder::commit(call_.thread, done);
  close_slice(slice);
}

}  // namespace profshim::mpi
