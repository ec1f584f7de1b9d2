#include <algorithm>
#include <iterator>

#include "profshim/event.h"

namespace profshim {
namespace {

#define HOOK(name, ...) #name,
constexpr std::string_view kFunctions[] = {
#include "profshim/hooks/cuda.def"
#include "profshim/hooks/mpi.def"
#include "profshim/hooks/nccl.def"
};
#undef HOOK
#define HOOK(name, shown, ...) #shown,
constexpr std::string_view kCudaCallNames[] = {
#include "profshim/hooks/cuda.def"
};
#undef HOOK
// How many rows each table has.
#define HOOK(...) +1
constexpr std::size_t kCudaRows = std::size(kCudaCallNames);
constexpr std::size_t kMpiRows = 0
#include "profshim/hooks/mpi.def"
    ;
#undef HOOK
constexpr std::size_t kFirst = static_cast<std::size_t>(HookId::kCount) - std::size(kFunctions);

}  // namespace

std::string_view hook_name(HookId hook) {
  const auto i = static_cast<std::size_t>(hook);
  return i >= kFirst && i - kFirst < std::size(kFunctions) ? kFunctions[i - kFirst] : std::string_view{};
}

Layer hook_layer(HookId hook) {
  if (hook == HookId::kNvtxRange || hook == HookId::kNvtxMark) return Layer::kNvtx;
  if (hook == HookId::kMpiPolls) return Layer::kMpi;
  if (hook >= HookId::kTorchOperator && hook <= HookId::kTorchMemory) return Layer::kTorch;
  const auto i = static_cast<std::size_t>(hook);
  if (i < kFirst) return hook >= HookId::kCudaApi ? Layer::kCuda : Layer::kNone;
  if (i < kFirst + kCudaRows) return Layer::kCuda;
  if (i < kFirst + kCudaRows + kMpiRows) return Layer::kMpi;
  return i < kFirst + std::size(kFunctions) ? Layer::kNccl : Layer::kNone;
}

std::string_view cuda_call_name(HookId hook) {
  const auto i = static_cast<std::size_t>(hook);
  return i >= kFirst && i < kFirst + kCudaRows ? kCudaCallNames[i - kFirst] : std::string_view{};
}

HookId hook_by_name(std::string_view name) {
  const auto at = std::find(std::begin(kFunctions), std::end(kFunctions), name);
  return at == std::end(kFunctions)
             ? HookId::kNone
             : static_cast<HookId>(kFirst + static_cast<std::size_t>(at - std::begin(kFunctions)));
}

}  // namespace profshim
