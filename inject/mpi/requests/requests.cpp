#include "inject/mpi/requests.h"

#include <atomic>

#include "persistent_requests.h"
#include "request_table.h"

namespace profshim::mpi {

using request_table::Cursor;
using request_table::Place;

namespace {

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

}  // namespace

namespace detail {
constinit std::atomic<std::uint32_t> open_operations{0};
}

std::uint32_t add_posted_request(const Event& post, Handle request, const void* address) {
  if (!is_request(request)) return 0;
  const std::uint32_t id = last_request.fetch_add(1, std::memory_order_relaxed) + 1;
  Event* const slice = open_slice(post, id, post.begin);
  if (slice == nullptr) return 0;
  if (request_table::put(request, entry_of(slice), address)) return id;
  close_slice(slice);
  return 0;
}

void add_persistent_request(const Event& model, Communicator* collective_on, Handle request, const void* address) {
  if (!is_request(request)) return;
  Persistent* const persistent = new_persistent();
  if (persistent == nullptr) return;
  persistent->model = model;
  persistent->slice.store(nullptr, std::memory_order_relaxed);
  persistent->collective_on = collective_on;
  persistent->comm_id = collective_on != nullptr ? collective_on->id : 0;
  if (!request_table::put(request, entry_of(persistent), address)) free_persistent(*persistent);
}

void start_persistent_request(Event* start, bool only_one, Handle request, const void* address) {
  Cursor cursor;
  Persistent* const persistent = persistent_of(request_table::find(request, address, cursor).entry);
  if (persistent != nullptr) {
    Communicator* const comm = persistent->collective_on;
    if (comm != nullptr && comm->id == persistent->comm_id) persistent->model.mpi.sequence = next_sequence(*comm);
    if (start != nullptr) {
      const std::uint32_t id = last_request.fetch_add(1, std::memory_order_relaxed) + 1;
      Event* const slice = open_slice(persistent->model, id, start->begin);
      close_slice(persistent->slice.exchange(slice));
      if (only_one) {
        start->mpi = persistent->model.mpi;
        start->started_peer = peer_kind(persistent->model.hook);
      }
      if (only_one && slice != nullptr) start->mpi.request = id;
    }
  }
}

void forget_request(Handle request, const void* address) {
  Place place;
  do {
    Cursor cursor;
    place = request_table::find(request, address, cursor);
    if (place.entry == 0) return;
  } while (!request_table::take(place, request));
  if (Persistent* const persistent = persistent_of(place.entry)) {
    close_slice(persistent->slice.exchange(nullptr));
    free_persistent(*persistent);
  } else {
    close_slice(slice_of(place.entry));
  }
}

}  // namespace profshim::mpi
