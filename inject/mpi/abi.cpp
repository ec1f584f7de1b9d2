#include "abi.h"

#include "forward.h"

namespace profshim::mpi {
namespace {

constinit Abi the_abi;

void* data_symbol(const char* name) { return inject::resolve_data(name, Layer::kMpi); }

bool is_standard_abi() {
  static constinit Query<int(int*, int*)> version{"PMPI_Abi_get_version"};
  int major = -1, minor = -1;  // stay -1 in a library without the ABI
  return version.get() != nullptr && version.get()(&major, &minor) == 0 && major >= 1;
}

// Addresses of one Fortran constant: Open MPI's common block, as four compilers spell its name, and the value of a C
// pointer (MPICH).
struct FortranVariable {
  void* addresses[5] = {};
  void find(const char* const (&names)[4], const char* pointer_name) {
    for (int i = 0; i < 4; ++i) addresses[i] = data_symbol(names[i]);
    if (auto* const pointer = static_cast<void**>(data_symbol(pointer_name))) addresses[4] = *pointer;
  }
  bool is(const void* address) const {
    for (const void* const known : addresses) {
      if (known == address && known != nullptr) return true;
    }
    return false;
  }
};
constinit FortranVariable fortran_in_place, fortran_status_ignore, fortran_statuses_ignore;

void find_fortran_variables() {
  fortran_in_place.find(
      {"mpi_fortran_in_place_", "mpi_fortran_in_place", "mpi_fortran_in_place__", "MPI_FORTRAN_IN_PLACE"},
      "MPIR_F_MPI_IN_PLACE");
  fortran_status_ignore.find({"mpi_fortran_status_ignore_", "mpi_fortran_status_ignore", "mpi_fortran_status_ignore__",
                              "MPI_FORTRAN_STATUS_IGNORE"},
                             "MPI_F_STATUS_IGNORE");
  fortran_statuses_ignore.find({"mpi_fortran_statuses_ignore_", "mpi_fortran_statuses_ignore",
                                "mpi_fortran_statuses_ignore__", "MPI_FORTRAN_STATUSES_IGNORE"},
                               "MPI_F_STATUSES_IGNORE");
}

Handle from_fortran(int handle, Query<Handle(int)>& f2c, Query<Handle(int)>& fromint) {
  if (the_abi.implementation == Implementation::kMpich) return static_cast<std::uint32_t>(handle);
  if (auto* const convert = f2c.get()) return convert(handle);
  auto* const convert = fromint.get();
  return convert != nullptr ? convert(handle) : 0;
}

}  // namespace

const Abi& abi() { return the_abi; }

Handle data_handle(const char* symbol) { return reinterpret_cast<Handle>(data_symbol(symbol)); }

bool detect_abi() {
  if (is_standard_abi()) {
    the_abi = {.implementation = Implementation::kStandardAbi,
               .world = 0x101,
               .self = 0x102,
               .comm_null = 0x100,
               .request_null = 0x180,
               .in_place = 1,
               .status_ignore = 0,
               .handle_bytes = 8,
               .status_ints = 8,
               .status_source = 0,
               .cartesian = 1,
               .graph = 2,
               .distributed_graph = 3};
  } else if (const Handle world = data_handle("ompi_mpi_comm_world")) {
    the_abi = {.implementation = Implementation::kOpenMpi,
               .world = world,
               .self = data_handle("ompi_mpi_comm_self"),
               .comm_null = data_handle("ompi_mpi_comm_null"),
               .request_null = data_handle("ompi_request_null"),
               .in_place = 1,
               .status_ignore = 0,
               .handle_bytes = 8,
               .status_ints = 6,
               .status_source = 0,
               .cartesian = 1,
               .graph = 2,
               .distributed_graph = 3};
  } else if (inject::resolve("PMPI_Comm_rank", Layer::kMpi) != nullptr) {
    the_abi = {.implementation = Implementation::kMpich,
               .world = 0x44000000,
               .self = 0x44000001,
               .comm_null = 0x04000000,
               .request_null = 0x2c000000,
               .in_place = ~std::uintptr_t{0},
               .status_ignore = 1,
               .handle_bytes = 4,
               .status_ints = 5,
               .status_source = 2,
               .cartesian = 2,
               .graph = 1,
               .distributed_graph = 3};
  } else {
    return false;
  }
  find_fortran_variables();
  return true;
}

Handle comm_from_fortran(int handle) {
  static constinit Query<Handle(int)> f2c{"PMPI_Comm_f2c"}, fromint{"PMPI_Comm_fromint"};
  return from_fortran(handle, f2c, fromint);
}
Handle type_from_fortran(int handle) {
  static constinit Query<Handle(int)> f2c{"PMPI_Type_f2c"}, fromint{"PMPI_Type_fromint"};
  return from_fortran(handle, f2c, fromint);
}
Handle op_from_fortran(int handle) {
  static constinit Query<Handle(int)> f2c{"PMPI_Op_f2c"}, fromint{"PMPI_Op_fromint"};
  return from_fortran(handle, f2c, fromint);
}
Handle request_from_fortran(int handle) {
  static constinit Query<Handle(int)> f2c{"PMPI_Request_f2c"}, fromint{"PMPI_Request_fromint"};
  return from_fortran(handle, f2c, fromint);
}

bool is_fortran_in_place(const void* address) { return fortran_in_place.is(address); }
bool is_fortran_status_ignore(const void* address) { return fortran_status_ignore.is(address); }
bool is_fortran_statuses_ignore(const void* address) { return fortran_statuses_ignore.is(address); }

int missing_function_error() { return abi().implementation == Implementation::kMpich ? 15 : 16; }

}  // namespace profshim::mpi
