// One intercepted MPI call: its arguments, its event, and the steps before and after the real function.
#pragma once

#include <cstdint>

#include "abi.h"
#include "communicators.h"
#include "profshim/recorder.h"
#include "row.h"

namespace profshim::mpi {

/// Lives on the stack of the hook around the real call. `words` are the arguments at register width. In a Fortran call
/// each is an address; the accessors hide the difference.
struct Call {
  const Row& row;
  spool::Thread& thread;
  std::uint64_t* words;
  bool fortran;

  Event* event = nullptr;        // the open call in the spool; null if it is not recorded
  Communicator* comm = nullptr;  // of a collective, or the communicator that the call frees
  Handle freed = 0;
  std::uint32_t freed_id = 0;  // id of the freed communicator, whose table entry may be reused meanwhile
  std::uint32_t sequence = 0;
  bool step_at_end = false;
  StatusBuffer own_status;  // passed to the real function if the caller ignores the status and we need it

  std::uint64_t& word(Role role) const { return words[row.position(role)]; }
  void* address(int i) const { return reinterpret_cast<void*>(words[i]); }
  void* address(Role role) const { return address(row.position(role)); }
  int number(int i) const { return fortran ? *static_cast<const int*>(address(i)) : static_cast<int>(words[i]); }
  int number(Role role) const { return number(row.position(role)); }
  /// Returns a count of either width.
  std::int64_t count(int i) const { return fortran ? number(i) : static_cast<std::int64_t>(words[i]); }
  Handle comm_argument() const {
    return fortran ? comm_from_fortran(number(Role::Comm)) : normalized(static_cast<Handle>(word(Role::Comm)));
  }
  Handle type_argument(int i) const {
    return fortran ? type_from_fortran(number(i)) : normalized(static_cast<Handle>(words[i]));
  }
  Handle op_argument() const {
    return fortran ? op_from_fortran(number(Role::Op)) : normalized(static_cast<Handle>(word(Role::Op)));
  }
  /// Returns element `k` of the array of requests at argument `i`.
  Handle request_in(int i, int k = 0) const {
    return fortran ? request_from_fortran(static_cast<const int*>(address(i))[k]) : handle_at(address(i), k);
  }
  const void* request_address(int i, int k = 0) const {
    return static_cast<const char*>(address(i)) + std::size_t(fortran ? 4 : abi().handle_bytes) * std::size_t(k);
  }
  Handle comm_stored_at(Role role) const {
    return fortran ? comm_from_fortran(*static_cast<const int*>(address(role))) : handle_at(address(role));
  }
  /// Returns true if the row has such a buffer and the caller passed MPI_IN_PLACE for it.
  bool in_place(Role role) const {
    const int i = row.position(role);
    return i >= 0 && (fortran ? is_fortran_in_place(address(i)) : words[i] == abi().in_place);
  }
  bool ignores_status() const {
    return fortran ? is_fortran_status_ignore(address(Role::Status)) : word(Role::Status) == abi().status_ignore;
  }
  bool ignores_statuses() const {
    return fortran ? is_fortran_statuses_ignore(address(Role::Statuses)) : word(Role::Statuses) == abi().status_ignore;
  }
  /// Makes the real function write its status where we can read it.
  void want_status() {
    if (ignores_status()) word(Role::Status) = reinterpret_cast<std::uint64_t>(&own_status);
  }
  /// To be asked after the real function has returned without an error.
  bool was_unsuccessful_poll() const { return row.polls() && *static_cast<const int*>(address(Role::Flag)) == 0; }
  bool armed() const { return event != nullptr; }
};

/// Fills in everything but the times of `event` from the arguments.
void describe(const Call& call, Event& event);
/// Returns true if only the status tells the source or the tag of the message.
bool needs_status(const Call& call);
/// Runs before the real function: numbers collectives, makes steps, and begins the event while armed. Allocates, locks
/// and calls the system only at the first use of a communicator, datatype or operation.
void begin_call(Call& call);
/// Runs after the real function: follows communicators and requests, and ends the event. Keeps errno.
void end_call(Call& call, int result);

/// Fills in the unknown ones of peer and tag from a status.
void take_source_and_tag(const int* status, MpiArgs& args);

}  // namespace profshim::mpi
