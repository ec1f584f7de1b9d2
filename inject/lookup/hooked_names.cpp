#include "hooked_names.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <string_view>

namespace profshim::inject {
namespace {

// In the order of HookId and OtherHook.
constexpr std::string_view kNames[] = {
#define HOOK(name, ...) #name,
#include "profshim/hooks/cuda.def"
#include "profshim/hooks/mpi.def"
#include "profshim/hooks/nccl.def"
#undef HOOK
#define HOOK(name) #name,
#include "inject/core/driver_lookups.def"
#undef HOOK
};
constexpr std::size_t kRows = std::size(kNames) - detail::kOtherHooks;

constexpr std::uint32_t kHashSeed = 2166136261;
constexpr std::uint32_t hashed(std::uint32_t hash, char c) { return (hash ^ static_cast<unsigned char>(c)) * 16777619; }

// Open addressing; an entry is 1 + the index of a name, 0 = free.
constexpr std::size_t kSlots = 2048;
static_assert(std::size(kNames) * 3 < kSlots);
constexpr std::array<std::uint16_t, kSlots> make_table() {
  std::array<std::uint16_t, kSlots> table{};
  for (std::size_t i = 0; i < std::size(kNames); ++i) {
    std::uint32_t hash = kHashSeed;
    for (const char c : kNames[i]) hash = hashed(hash, c);
    std::size_t at = hash % kSlots;
    while (table[at] != 0) at = (at + 1) % kSlots;
    table[at] = static_cast<std::uint16_t>(i + 1);
  }
  return table;
}
constexpr std::array<std::uint16_t, kSlots> kTable = make_table();

constexpr bool may_have_hook(char first) { return first == 'M' || first == 'c' || first == 'n' || first == '_'; }
static_assert(std::all_of(std::begin(kNames), std::end(kNames), [](auto name) { return may_have_hook(name[0]); }));

constexpr std::size_t longest_name() {
  std::size_t longest = 0;
  for (const std::string_view name : kNames) longest = name.size() > longest ? name.size() : longest;
  return longest;
}

}  // namespace

std::uint32_t hooked_name(const char* name) {
  if (!may_have_hook(*name)) return 0;
  std::uint32_t hash = kHashSeed;
  std::size_t length = 0;
  for (; name[length] != '\0'; ++length) {
    if (length == longest_name()) return 0;
    hash = hashed(hash, name[length]);
  }
  for (std::size_t at = hash % kSlots; kTable[at] != 0; at = (at + 1) % kSlots) {
    if (kNames[kTable[at] - 1] == std::string_view(name, length)) return kTable[at];
  }
  return 0;
}

HookedFunction hooked_function(std::uint32_t number) {
  const std::size_t i = number - 1;
  const char* const name = kNames[i].data();
  if (i >= kRows) return {name, Layer::kCuda, real_function(static_cast<OtherHook>(i - kRows))};
  const auto hook = static_cast<HookId>(static_cast<std::size_t>(HookId::kFirstRow) + i);
  return {name, hook_layer(hook), real_function(hook)};
}

}  // namespace profshim::inject
