// hooks/mpi.def as constants: RowOf<hooks::MPI_Allreduce>::kRow.
#pragma once

#include "inject/core/macros.h"
#include "profshim/hooks/ids.h"
#include "row.h"

namespace profshim::mpi {

template <HookId hook>
struct RowOf;

#define MPI_ROW(name, behavior, payload, made, ...)                                                                \
  template <>                                                                                                      \
  struct RowOf<hooks::name> {                                                                                      \
    static constexpr std::size_t kArguments = std::initializer_list<Role>{MPI_EACH(MPI_ROLE, __VA_ARGS__)}.size(); \
    static constexpr std::array<Role, kArguments> kRoles{MPI_EACH(MPI_ROLE, __VA_ARGS__)};                         \
    static constexpr Row kRow = make_row(hooks::name, Behavior::behavior, Payload::payload, made, kRoles);         \
  };
#define HOOK(name, fortran, capitals, behavior, payload, ...) MPI_ROW(name, behavior, payload, "", __VA_ARGS__)
#define HOOK_NEW_COMM(name, fortran, capitals, behavior, made, ...) MPI_ROW(name, behavior, Nothing, made, __VA_ARGS__)
#include "profshim/hooks/mpi.def"
#undef HOOK
#undef MPI_ROW

#define ROWS "profshim/hooks/mpi.def"
#include "inject/core/find_row.def"
#undef ROWS

}  // namespace profshim::mpi
