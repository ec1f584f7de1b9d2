// hooks/mpi.def as constants: row<HookId::MPI_Allreduce>.
#pragma once

#include "inject/core/each.h"
#include "row.h"

namespace profshim::mpi {

template <HookId hook>
struct RowOf;

#define HOOK(name, fortran, capitals, behaviour, payload, ...)                                                     \
  template <>                                                                                                      \
  struct RowOf<HookId::name> {                                                                                     \
    static constexpr std::size_t kArguments = std::initializer_list<Role>{MPI_EACH(MPI_ROLE, __VA_ARGS__)}.size(); \
    static constexpr std::array<Role, kArguments> kRoles{MPI_EACH(MPI_ROLE, __VA_ARGS__)};                         \
    static constexpr Row kRow = make_row(HookId::name, Behaviour::behaviour, Payload::payload, kRoles);            \
  };
#include "profshim/hooks/mpi.def"
#undef HOOK

template <HookId hook>
inline constexpr const Row& row = RowOf<hook>::kRow;

}  // namespace profshim::mpi
