// hooks/nccl.def as constants: RowOf<hooks::ncclAllReduce>::kRow.
#pragma once

#include "abi.h"
#include "inject/core/macros.h"
#include "profshim/hooks/ids.h"

namespace profshim::nccl {

#define NCCL_ROLE(A, a) ::profshim::nccl::Role::A
#define NCCL_PARAMETER(A, a) ::profshim::nccl::ArgumentType<::profshim::nccl::Role::A> a

template <HookId hook>
struct RowOf;

#define HOOK(name, since, behavior, payload, ...)                                                                   \
  template <>                                                                                                       \
  struct RowOf<hooks::name> {                                                                                       \
    static constexpr std::size_t kArguments = std::initializer_list<Role>{MPI_EACH(NCCL_ROLE, __VA_ARGS__)}.size(); \
    static constexpr std::array<Role, kArguments> kRoleOf{MPI_EACH(NCCL_ROLE, __VA_ARGS__)};                        \
    static constexpr Row kRow = make_row(hooks::name, Behavior::behavior, Payload::payload, kRoleOf);               \
  };
#include "profshim/hooks/nccl.def"
#undef HOOK

#define ROWS "profshim/hooks/nccl.def"
#include "inject/core/find_row.def"
#undef ROWS

}  // namespace profshim::nccl
