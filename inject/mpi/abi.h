// The MPI implementation of this process, detected at run time: the constants and widths in which implementations
// differ, and lookup of PMPI functions. One binary serves Open MPI, the MPICH family and the MPI-5 ABI.
#pragma once

#include <atomic>
#include <cstdint>

#include "inject/core/resolve.h"
#include "profshim/event.h"

namespace profshim::mpi {

/// A handle at register width. MPICH's handles are ints: only the low half is defined (see normalized()).
using Handle = std::uintptr_t;

enum class Implementation : std::uint8_t { kUnknown, kOpenMpi, kMpich, kStandardAbi };

struct Abi {
  Implementation implementation = Implementation::kUnknown;
  Handle world = 0, self = 0, comm_null = 0, request_null = 0;
  std::uintptr_t in_place = 0;       // MPI_IN_PLACE
  std::uintptr_t status_ignore = 0;  // MPI_STATUS_IGNORE
  int handle_bytes = 8;              // of one element in an array of requests
  int status_ints = 0;               // size of a status in ints
  int status_source = 0;             // index of MPI_SOURCE in a status read as an array of int; MPI_TAG follows it
  int cartesian = 0, graph = 0, distributed_graph = 0;  // results of MPI_Topo_test
};

/// All zero until detect_abi() has returned true.
const Abi& abi();
/// To be called once, after MPI is initialized. Returns false if the implementation is not one of Implementation.
bool detect_abi();

/// Large enough for a status of any implementation.
struct alignas(8) StatusBuffer {
  StatusBuffer() {}  // not cleared: every hook has one on its stack and few use it
  int words[16];
};

/// Returns a handle argument in the form in which it is compared and stored.
inline Handle normalized(Handle handle) {
  return abi().handle_bytes == 4 ? static_cast<std::uint32_t>(handle) : handle;
}
/// Returns the handle at index i of the array at `address`.
inline Handle handle_at(const void* address, int i = 0) {
  return abi().handle_bytes == 4 ? static_cast<const std::uint32_t*>(address)[i]
                                 : static_cast<const std::uint64_t*>(address)[i];
}

/// A PMPI function, looked up at its first use. get() returns null if this MPI lacks it, and never one of our hooks.
template <class Signature>
class Query {
 public:
  explicit constexpr Query(const char* name) : name_(name) {}
  Signature* get() {
    void* found = address_.load(std::memory_order_acquire);
    if (found == nullptr) {
      found = inject::resolve(name_, Layer::kMpi);
      address_.store(found, std::memory_order_release);  // pairs with the load above
    }
    return reinterpret_cast<Signature*>(found);
  }

 private:
  const char* name_;
  std::atomic<void*> address_{nullptr};
};

/// Returns the handle constant that Open MPI defines as the address of `symbol`; 0 if there is none.
Handle data_handle(const char* symbol);

/// Translate a Fortran handle.
Handle comm_from_fortran(int handle);
Handle type_from_fortran(int handle);
Handle op_from_fortran(int handle);
Handle request_from_fortran(int handle);

/// Compare with the addresses of Fortran's MPI_IN_PLACE, MPI_STATUS_IGNORE and MPI_STATUSES_IGNORE, which are
/// variables.
bool is_fortran_in_place(const void* address);
bool is_fortran_status_ignore(const void* address);
bool is_fortran_statuses_ignore(const void* address);

}  // namespace profshim::mpi
