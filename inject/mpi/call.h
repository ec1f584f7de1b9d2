#pragma once

#include <cstdint>

#include "abi.h"
#include "communicators.h"
#include "profshim/recorder.h"
#include "row.h"

namespace profshim::mpi {

/// `words` holds the arguments at register width; in a Fortran call, their addresses.
struct Call {
  const Row& row;
  spool::Thread& thread;
  std::uint64_t* words;
  bool fortran;

  Event* event = nullptr;        // null = not recorded
  Communicator* comm = nullptr;  // null unless the call is a collective or frees a communicator
  Handle freed = 0;
  std::uint32_t freed_id = 0;  // id of `freed`, whose table entry may be reused
  std::uint32_t sequence = 0;
  bool step_at_end = false;
  StatusBuffer own_status;  // replaces a status that the caller ignores

  std::uint64_t& word(Role role) const { return words[row.position(role)]; }
  void* address(int i) const { return reinterpret_cast<void*>(words[i]); }
  void* address(Role role) const { return address(row.position(role)); }
  int number(int i) const { return fortran ? *static_cast<const int*>(address(i)) : static_cast<int>(words[i]); }
  int number(Role role) const { return number(row.position(role)); }
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
  Handle request_in(int i, int k = 0) const {
    return fortran ? request_from_fortran(static_cast<const int*>(address(i))[k]) : handle_at(address(i), k);
  }
  const void* request_address(int i, int k = 0) const {
    return static_cast<const char*>(address(i)) + std::size_t(fortran ? 4 : abi().handle_bytes) * std::size_t(k);
  }
  Handle comm_stored_at(Role role) const {
    return fortran ? comm_from_fortran(*static_cast<const int*>(address(role))) : handle_at(address(role));
  }
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
  void want_status() {
    if (ignores_status()) word(Role::Status) = reinterpret_cast<std::uint64_t>(&own_status);
  }
  /// Call only after the real function has succeeded.
  bool was_unsuccessful_poll() const { return row.polls() && *static_cast<const int*>(address(Role::Flag)) == 0; }
  bool armed() const { return event != nullptr; }
};

void describe(const Call& call, Event& event);
bool needs_status(const Call& call);
void begin_call(Call& call);
/// Preserves errno.
void end_call(Call& call, int result);

/// Fills in peer and tag if unknown (MPI_ANY_SOURCE).
void take_source_and_tag(const int* status, MpiArgs& args);

}  // namespace profshim::mpi
