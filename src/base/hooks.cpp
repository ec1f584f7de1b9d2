#include <algorithm>
#include <array>

#include "profshim/event.h"

namespace profshim {
namespace {

constexpr std::array<std::string_view, static_cast<std::size_t>(HookId::kCount)> kNames = {
    "", "", "", "", "",
#define HOOK(name, ...) #name,
#include "profshim/hooks/mpi.def"
#undef HOOK
};
constexpr auto kFirstMpi = static_cast<std::size_t>(HookId::kContinuation) + 1;

}  // namespace

std::string_view hook_name(HookId hook) {
  const auto i = static_cast<std::size_t>(hook);
  return i < kNames.size() ? kNames[i] : std::string_view{};
}

Layer hook_layer(HookId hook) {
  if (hook == HookId::kNvtxRange || hook == HookId::kNvtxMark) return Layer::kNvtx;
  const auto i = static_cast<std::size_t>(hook);
  return i >= kFirstMpi && i < kNames.size() ? Layer::kMpi : Layer::kNone;
}

HookId hook_by_name(std::string_view name) {
  const auto at = std::find(kNames.begin() + kFirstMpi, kNames.end(), name);
  return at == kNames.end() ? HookId::kNone : static_cast<HookId>(at - kNames.begin());
}

}  // namespace profshim
