// Which MPI this process runs on, found at run time: the constants and widths in which implementations differ, and the
// PMPI functions we ask. One binary serves Open MPI, the MPICH family and the MPI-5 ABI.
#pragma once

#include <atomic>
#include <cstdint>

#include "inject/core/resolve.h"
#include "profshim/event.h"

namespace profshim::mpi {

/// A handle at register width. MPICH's are ints: only the low half counts (see handle_of()).
using Handle = std::uintptr_t;

enum class Implementation : std::uint8_t { kUnknown, kOpenMpi, kMpich, kStandardAbi };

struct Abi {
  Implementation implementation = Implementation::kUnknown;
  Handle world = 0, self = 0, comm_null = 0, request_null = 0;
  std::uintptr_t in_place = 0;       // MPI_IN_PLACE
  std::uintptr_t status_ignore = 0;  // MPI_STATUS_IGNORE
  int handle_bytes = 8;              // in an array of requests
  int status_ints = 0;               // size of a status, in ints
  int status_source = 0;             // index of MPI_SOURCE in a status seen as an array of int; MPI_TAG follows
  int cartesian = 0, graph = 0, distributed_graph = 0;  // MPI_Topo_test
};

/// In force from detect_abi() on.
const Abi& abi();
/// After MPI is initialised, once. False when this MPI is none we know.
bool detect_abi();

/// Room for a status of any implementation.
struct alignas(8) StatusBuffer {
  StatusBuffer() {}  // not cleared: it lies on the stack of every hook and is rarely used
  int words[16];
};

/// Brings a handle argument to the form in which it is compared and stored.
inline Handle normal(Handle handle) { return abi().handle_bytes == 4 ? static_cast<std::uint32_t>(handle) : handle; }
/// The handle at `address` (index i of an array).
inline Handle handle_at(const void* address, int i = 0) {
  return abi().handle_bytes == 4 ? static_cast<const std::uint32_t*>(address)[i]
                                 : static_cast<const std::uint64_t*>(address)[i];
}

/// A PMPI function, looked up at its first use; absent ones are null. Never one of our own hooks.
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

/// The value of a handle constant that Open MPI has as the address of a data symbol.
Handle data_handle(const char* symbol);

/// Translates a Fortran handle.
Handle comm_from_fortran(int handle);
Handle type_from_fortran(int handle);
Handle op_from_fortran(int handle);
Handle request_from_fortran(int handle);

/// Fortran's MPI_IN_PLACE, MPI_STATUS_IGNORE and MPI_STATUSES_IGNORE are variables: is it the address of one of them?
bool is_fortran_in_place(const void* address);
bool is_fortran_status_ignore(const void* address);
bool is_fortran_statuses_ignore(const void* address);

}  // namespace profshim::mpi
