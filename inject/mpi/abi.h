// The ABI is detected at run time: one binary serves Open MPI, the MPICH family and the MPI-5 ABI.
#pragma once

#include <atomic>
#include <cstdint>

#include "inject/core/loader/resolve.h"
#include "profshim/event.h"

namespace profshim::mpi {

/// A handle at register width. Only the low half of an MPICH handle, an int, is defined.
using Handle = std::uintptr_t;

enum class Implementation : std::uint8_t { kUnknown, kOpenMpi, kMpich, kStandardAbi };

struct Abi {
  Implementation implementation = Implementation::kUnknown;
  Handle world = 0, self = 0, comm_null = 0, request_null = 0;
  std::uintptr_t in_place = 0;
  std::uintptr_t status_ignore = 0;
  int handle_bytes = 8;  // in an array
  int status_ints = 0;
  int status_source = 0;                                // index of MPI_SOURCE in ints; MPI_TAG follows
  int cartesian = 0, graph = 0, distributed_graph = 0;  // results of MPI_Topo_test
};

/// Unset until detect_abi() has returned true.
const Abi& abi();
/// Call once, after MPI is initialized.
bool detect_abi();

struct alignas(8) StatusBuffer {
  StatusBuffer() {}  // not cleared: on every hook's stack, seldom used
  int words[16];
};

inline Handle normalized(Handle handle) {
  return abi().handle_bytes == 4 ? static_cast<std::uint32_t>(handle) : handle;
}
inline Handle handle_at(const void* address, int i = 0) {
  return abi().handle_bytes == 4 ? static_cast<const std::uint32_t*>(address)[i]
                                 : static_cast<const std::uint64_t*>(address)[i];
}

/// A PMPI function. get() returns null if MPI lacks the function; never our hook.
template <class Signature>
class Query {
 public:
  explicit constexpr Query(const char* name) : name_(name) {}
  Signature* get() {
    void* found = address_.load(std::memory_order_acquire);
    if (found == nullptr) {
      found = inject::resolve(name_, Layer::kMpi);
      address_.store(found, std::memory_order_release);
    }
    return reinterpret_cast<Signature*>(found);
  }

 private:
  const char* name_;
  std::atomic<void*> address_{nullptr};
};

Handle data_handle(const char* symbol);

Handle comm_from_fortran(int handle);
Handle type_from_fortran(int handle);
Handle op_from_fortran(int handle);
Handle request_from_fortran(int handle);

bool is_fortran_in_place(const void* address);
bool is_fortran_status_ignore(const void* address);
bool is_fortran_statuses_ignore(const void* address);

}  // namespace profshim::mpi
