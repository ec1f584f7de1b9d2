#include "inject/mpi/completion.h"

#include <new>

#include "inject/mpi/requests.h"
#include "inject/mpi/rows.h"
#include "persistent_requests.h"
#include "request_table.h"

namespace profshim::mpi {

using request_table::Cursor;
using request_table::Place;

namespace {

/// If another thread takes the entry first, tries another entry with the same handle.
Event* take_slice(Place place, Handle handle, const void* address) {
  while (place.entry != 0 && persistent_of(place.entry) == nullptr) {
    if (request_table::take(place, handle)) return slice_of(place.entry);
    Cursor cursor;
    place = request_table::find(handle, address, cursor);
  }
  return nullptr;
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

}  // namespace

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
      recorder::missing("mpi",
                        "no memory to follow the requests of one wait or test call: their non-blocking operations show "
                        "only their start");
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
    const Place place = is_request(handle) ? request_table::find(handle, address, cursor) : Place{};
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

// Passing statuses does not change the result: Open MPI and MPICH return MPI_ERR_IN_STATUS with or without them.
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
    // After an error, pending requests keep their handle; persistent requests always do.
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
  Event* const slice = persistent != nullptr ? persistent->slice.exchange(nullptr)
                                             : take_slice({found.slot, found.entry}, found.handle, found.address);
  if (slice == nullptr) return;
  // Commit a copy: the writer of a closed window may still read the slice.
  Event done = *slice;
  done.end = end_;
  if (failed) done.flags |= kFailed;
  if (status != nullptr && receives(done)) take_source_and_tag(status, done.mpi);
  recorder::commit(call_.thread, done);
  close_slice(slice);
}

}  // namespace profshim::mpi
