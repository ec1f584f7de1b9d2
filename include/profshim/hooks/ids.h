// The HookId of each row in hooks/*.def, such as hooks::MPI_Allreduce. Include this only where rows are named: a new
// row compiles each file that does again.
#pragma once

#include <cstdint>

#include "profshim/event.h"

namespace profshim::hooks {
namespace detail {

enum Number : std::uint16_t {
  kBeforeRows = static_cast<std::uint16_t>(HookId::kFirstRow) - 1,
#define HOOK(name, ...) of_##name,
#include "profshim/hooks/cuda.def"
#include "profshim/hooks/mpi.def"
#include "profshim/hooks/nccl.def"
#undef HOOK
};

}  // namespace detail

#define HOOK(name, ...) inline constexpr HookId name{detail::of_##name};
#include "profshim/hooks/cuda.def"
#include "profshim/hooks/mpi.def"
#include "profshim/hooks/nccl.def"
#undef HOOK

}  // namespace profshim::hooks
