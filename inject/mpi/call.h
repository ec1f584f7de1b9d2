// One intercepted MPI call between the exported hook and the modules that know communicators, requests and types.
#pragma once

#include <cstdint>

#include "abi.h"
#include "communicators.h"
#include "profshim/recorder.h"
#include "row.h"

namespace profshim::mpi {

/// Lives on the stack of the hook over the real call. `words` are the arguments at register width; in a Fortran call
/// all of them are addresses. The accessors hide the difference.
struct Call {
  const Row& row;
  spool::Thread& thread;
  std::uint64_t* words;
  bool fortran;

  Event* event = nullptr;        // open call in the spool; null when not recorded
  Communicator* comm = nullptr;  // of a collective, or the one that is being freed
  Handle freed = 0;
  std::uint32_t freed_id = 0;  // of that communicator: its entry may serve another one already
  std::uint32_t sequence = 0;
  bool step_at_end = false;
  StatusBuffer own_status;  // passed to the real function where the caller wants none and we need it

  std::uint64_t& word(Role role) const { return words[row.position(role)]; }
  void* address(int i) const { return reinterpret_cast<void*>(words[i]); }
  void* address(Role role) const { return address(row.position(role)); }
  int number(int i) const { return fortran ? *static_cast<const int*>(address(i)) : static_cast<int>(words[i]); }
  int number(Role role) const { return number(row.position(role)); }
  /// A count of either width.
  std::int64_t count(int i) const { return fortran ? number(i) : static_cast<std::int64_t>(words[i]); }
  Handle comm_argument() const {
    return fortran ? comm_from_fortran(number(Role::Comm)) : normal(static_cast<Handle>(word(Role::Comm)));
  }
  Handle type_argument(int i) const {
    return fortran ? type_from_fortran(number(i)) : normal(static_cast<Handle>(words[i]));
  }
  Handle op_argument() const {
    return fortran ? op_from_fortran(number(Role::Op)) : normal(static_cast<Handle>(word(Role::Op)));
  }
  /// Element `k` of the array of requests at argument `i`.
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
  /// Lets the real function write its status where we can read it.
  void want_status() {
    if (ignores_status()) word(Role::Status) = reinterpret_cast<std::uint64_t>(&own_status);
  }
  /// To be asked after the real function has returned without an error.
  bool was_unsuccessful_poll() const { return row.polls() && *static_cast<const int*>(address(Role::Flag)) == 0; }
  bool armed() const { return event != nullptr; }
};

/// What the arguments say; the call's times are the caller's.
void describe(const Call& call, Event& event);
/// Is the matched source or tag known only from the status?
bool needs_status(const Call& call);
/// Before the real function: counts, steps, and begins the event when armed. No allocation, lock or system call but at
/// the first sight of a communicator, datatype or operation.
void begin_call(Call& call);
/// After it: identities, requests, and the event. Keeps errno.
void end_call(Call& call, int result);

/// Source and tag of a status, where they are those of a message.
void take_source_and_tag(const int* status, MpiArgs& args);

}  // namespace profshim::mpi
