// hooks/nccl.def as constants: RowOf<HookId::ncclAllReduce>::kRow.
#pragma once

#include "abi.h"
#include "inject/core/row_macros.h"

namespace profshim::nccl {

#define NCCL_ROLE(A, a) ::profshim::nccl::Role::A
#define NCCL_PARAMETER(A, a) ::profshim::nccl::ArgumentType<::profshim::nccl::Role::A> a

template <HookId hook>
struct RowOf;

#define HOOK(name, since, behavior, payload, ...)                                                                   \
  template <>                                                                                                       \
  struct RowOf<HookId::name> {                                                                                      \
    static constexpr std::size_t kArguments = std::initializer_list<Role>{MPI_EACH(NCCL_ROLE, __VA_ARGS__)}.size(); \
    static constexpr std::array<Role, kArguments> kRoleOf{MPI_EACH(NCCL_ROLE, __VA_ARGS__)};                        \
    static constexpr Row kRow = make_row(HookId::name, Behavior::behavior, Payload::payload, kRoleOf);              \
  };
#include "profshim/hooks/nccl.def"
#undef HOOK

constexpr const Row* find_row(HookId hook) {
  switch (hook) {
#define HOOK(name, ...) \
  case HookId::name:    \
    return &RowOf<HookId::name>::kRow;
#include "profshim/hooks/nccl.def"
#undef HOOK
    default:
      return nullptr;
  }
}

}  // namespace profshim::nccl
