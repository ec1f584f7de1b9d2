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
#define HOOK(...) +1
constexpr std::size_t kCudaRows = std::size(kCudaCallNames);
constexpr std::size_t kMpiRows = 0
#include "profshim/hooks/mpi.def"
    ;
#undef HOOK

constexpr bool has_word(std::string_view words, std::string_view word) {
  while (!words.empty()) {
    const std::size_t end = std::min(words.find(','), words.size());
    if (words.substr(0, end) == word) return true;
    words.remove_prefix(std::min(end + 2, words.size()));
  }
  return false;
}
constexpr PeerKind peer_among(std::string_view roles) {
  if (has_word(roles, "Root")) return PeerKind::kRoot;
  if (has_word(roles, "Dest")) return PeerKind::kDestination;
  if (has_word(roles, "Source") || has_word(roles, "Message")) return PeerKind::kSource;
  if (has_word(roles, "Target")) return PeerKind::kTarget;
  return has_word(roles, "Peer") ? PeerKind::kPeer : PeerKind::kNone;
}
// Each row is a separate constant: clang limits the steps of a constant expression.
template <PeerKind kKind>
constexpr PeerKind kRowPeer = kKind;
constexpr PeerKind kPeerKinds[] = {
#define HOOK(name, fortran, capitals, behavior, payload, ...) kRowPeer<peer_among(#__VA_ARGS__)>,
#include "profshim/hooks/mpi.def"
#undef HOOK
#define HOOK(name, since, behavior, payload, ...) kRowPeer<peer_among(#__VA_ARGS__)>,
#include "profshim/hooks/nccl.def"
#undef HOOK
};
constexpr bool kBeginsOrEndsMpi[] = {
#define HOOK(name, fortran, capitals, behavior, ...) \
  has_word("Initialize, InitializeSession, Finalize, Abort", #behavior),
#include "profshim/hooks/mpi.def"
#undef HOOK
};
constexpr auto kFirst = static_cast<std::size_t>(HookId::kFirstRow);
static_assert(kFirst + std::size(kFunctions) <= static_cast<std::size_t>(HookId::kCount), "HookId::kCount must grow");

}  // namespace

std::string_view hook_name(HookId hook) {
  const auto i = static_cast<std::size_t>(hook);
  return i >= kFirst && i - kFirst < std::size(kFunctions) ? kFunctions[i - kFirst] : std::string_view{};
}

Layer hook_layer(HookId hook) {
  if (hook == HookId::kNvtxRange || hook == HookId::kNvtxMark) return Layer::kNvtx;
  if (hook == HookId::kMpiPolls) return Layer::kMpi;
  if (hook >= HookId::kTorchOperator && hook <= HookId::kTorchMemory) return Layer::kTorch;
  if (hook >= HookId::kPythonMarks && hook <= HookId::kPythonCall) return Layer::kPython;
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

PeerKind peer_kind(HookId hook) {
  const auto i = static_cast<std::size_t>(hook) - (kFirst + kCudaRows);  // wraps for hooks before the MPI table
  return i < std::size(kPeerKinds) ? kPeerKinds[i] : PeerKind::kNone;
}

bool begins_or_ends_mpi(HookId hook) {
  const auto i = static_cast<std::size_t>(hook) - (kFirst + kCudaRows);
  return i < std::size(kBeginsOrEndsMpi) && kBeginsOrEndsMpi[i];
}

HookId hook_by_name(std::string_view name) {
  const auto at = std::find(std::begin(kFunctions), std::end(kFunctions), name);
  return at == std::end(kFunctions)
             ? HookId::kNone
             : static_cast<HookId>(kFirst + static_cast<std::size_t>(at - std::begin(kFunctions)));
}

}  // namespace profshim
