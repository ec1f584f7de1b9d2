#include <dlfcn.h>

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "hooks.h"
#include "inject/core/loader/resolve.h"
#include "profshim/recorder.h"

namespace profshim::cuda {
namespace {

constexpr std::size_t kSlots = 4096;
constexpr StringId kNoName = ~StringId{0};
struct Slot {
  std::atomic<std::uintptr_t> key{0};  // address and Kind; 0 = free
  std::atomic<StringId> name{0};       // 0 = being looked up
};
/// Never cleared: if a function is unloaded and another is loaded at its address, the old name is returned.
constinit Slot slots[kSlots];

/// The low 2 bits of a key. The address loses its upper 2 bits, which are always 0.
enum class Kind : std::uintptr_t { kHostFunction = 1, kKernel = 2, kDriverFunction = 3 };

Slot* slot_of(std::uintptr_t key, bool& is_new) {
  constexpr std::size_t kReach = 16;
  const std::uintptr_t hash = key * 0x9E3779B97F4A7C15ull >> 52;
  for (std::size_t i = 0; i < kReach; ++i) {
    Slot& slot = slots[(hash + i) % kSlots];
    std::uintptr_t there = slot.key.load(std::memory_order_acquire);
    if (there == 0 && slot.key.compare_exchange_strong(there, key)) {
      is_new = true;
      return &slot;
    }
    if (there == key) return &slot;
  }
  return nullptr;
}

template <class LookUp>
StringId remembered(const void* address, Kind kind, const LookUp& look_up) {
  if (address == nullptr) return 0;
  bool is_new = false;
  Slot* const slot =
      slot_of(reinterpret_cast<std::uintptr_t>(address) << 2 | static_cast<std::uintptr_t>(kind), is_new);
  if (slot == nullptr) return 0;
  if (is_new) {
    const char* const name = look_up();
    const StringId id = name != nullptr && *name != 0 ? recorder::intern(name) : 0;
    slot->name.store(id != 0 ? id : kNoName, std::memory_order_release);
    return id;
  }
  const StringId id = slot->name.load(std::memory_order_acquire);
  return id == kNoName ? 0 : id;
}

/// cuFuncGetName and cuKernelGetName exist since CUDA 12.3. cudaFuncGetName is not called, because its failure would be
/// visible in cudaGetLastError().
using GetName = int(const char**, const void*);
const char* driver_name(std::atomic<GetName*>& function, const char* function_name, const void* handle) {
  GetName* get = function.load(std::memory_order_acquire);
  if (get == nullptr) {
    get = reinterpret_cast<GetName*>(inject::resolve(function_name, Layer::kCuda));
    if (get == nullptr) return nullptr;
    function.store(get, std::memory_order_release);
  }
  const char* name = nullptr;
  return get(&name, handle) == 0 ? name : nullptr;
}
constinit std::atomic<GetName*> get_function_name{nullptr}, get_kernel_name{nullptr};

}  // namespace

// nvcc gives the host stub the kernel's name. For a stub that is not exported, dladdr() returns the nearest exported
// symbol, which is wrong.
StringId name_of_function(const void* host_function) {
  return remembered(host_function, Kind::kHostFunction, [host_function]() -> const char* {
    Dl_info info{};
    if (dladdr(host_function, &info) == 0 || info.dli_saddr != host_function) return nullptr;
    return info.dli_sname;
  });
}

StringId name_of_kernel(const void* kernel) {
  return remembered(kernel, Kind::kKernel,
                    [kernel] { return driver_name(get_kernel_name, "cuKernelGetName", kernel); });
}

StringId name_of_driver_function(const void* function) {
  return remembered(function, Kind::kDriverFunction,
                    [function] { return driver_name(get_function_name, "cuFuncGetName", function); });
}

}  // namespace profshim::cuda
