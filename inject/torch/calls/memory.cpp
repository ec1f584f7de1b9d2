// PyTorch's allocators report blocks to these functions. The CPU's allocator calls ProfiledCPUMemoryReporter (same in
// 1.13 to 2.x). Others call report...ToProfiler(), whose totals are int64_t in 1.13 and size_t since. Source:
// c10/core/Allocator.cpp and CPUAllocator.cpp.

#include <sys/mman.h>

#include <atomic>
#include <cerrno>
#include <cstddef>
#include <cstdint>

#include "inject/core/block_table.h"
#include "inject/core/loader/real_function.h"
#include "inject/core/loader/resolve.h"
#include "inject/parent.h"
#include "inject/torch/abi.h"
#include "inject/torch/operators.h"
#include "profshim/base/process/process_words.h"
#include "profshim/recorder.h"
#include "profshim/session.h"

namespace c10 {

/// c10/core/Device.h
struct Device {
  std::int8_t type;  // c10::DeviceType
  std::int8_t index;
};

}  // namespace c10

namespace profshim::torch {
namespace {

using inject::BlockTable;
using recorder::kArmed;
using recorder::kMemory;

constexpr std::int8_t kCpu = 0;
constexpr c10::Device kCpuDevice = {kCpu, -1};

template <class Signature>
class RealFunction : public inject::NamedFunction<Signature> {
 public:
  explicit constexpr RealFunction(const char* name) : inject::NamedFunction<Signature>(Layer::kTorch, name) {}
  template <class... Arguments>
  void call(Arguments... arguments) {
    if (Signature* const real = this->get()) real(arguments...);
  }
};

// The first argument of member functions is `this`.
constinit RealFunction<void(void*, void*, std::size_t)> real_new("_ZN3c1025ProfiledCPUMemoryReporter3NewEPvm");
constinit RealFunction<void(void*, void*)> real_delete("_ZN3c1025ProfiledCPUMemoryReporter6DeleteEPv");
constinit RealFunction<void(void*, std::size_t)> real_out("_ZN3c1025ProfiledCPUMemoryReporter11OutOfMemoryEm");
template <class Total>
using Report = void(void*, std::int64_t, Total, Total, c10::Device);
template <class Total>
using ReportOut = void(std::int64_t, Total, Total, c10::Device);
constinit RealFunction<Report<std::int64_t>> real_report_1_13("_ZN3c1027reportMemoryUsageToProfilerEPvlllNS_6DeviceE");
constinit RealFunction<Report<std::size_t>> real_report("_ZN3c1027reportMemoryUsageToProfilerEPvlmmNS_6DeviceE");
constinit RealFunction<ReportOut<std::int64_t>> real_report_out_1_13(
    "_ZN3c1027reportOutOfMemoryToProfilerElllNS_6DeviceE");
constinit RealFunction<ReportOut<std::size_t>> real_report_out("_ZN3c1027reportOutOfMemoryToProfilerElmmNS_6DeviceE");

bool recording() { return recorder::mode_has(kArmed | kMemory); }

static_assert(sizeof(BlockTable) <= recorder::kBlockTableBytes);
constinit std::atomic<BlockTable*> cpu_blocks{nullptr};
constinit std::atomic<std::int64_t> cpu_bytes{0};

void commit(const void* address, std::int64_t bytes, std::uint64_t allocated, std::uint64_t reserved,
            c10::Device device, std::uint8_t flags = 0) {
  const int saved_errno = errno;
  spool::Thread* const thread = recorder::this_thread();
  if (thread == nullptr) {
    recorder::lose_event(kMemory);
  } else {
    Event event;
    event.begin = event.end = ticks();
    event.hook = HookId::kTorchMemory;
    event.flags = flags;
    event.memory = {};
    event.memory.address = reinterpret_cast<std::uint64_t>(address);
    event.memory.bytes = bytes;
    event.memory.allocated = allocated;
    event.memory.reserved = reserved;
    event.memory.device_type = device.type;
    event.memory.device_index = device.index;
    recorder::commit(*thread, event);
  }
  errno = saved_errno;
}

[[gnu::noinline]] void report_full_table() {
  static constinit std::atomic<bool> is_said{false};
  if (is_said.exchange(true)) return;
  recorder::missing(
      "torch",
      "capture.profile_memory: too many blocks of CPU memory at once: some of their releases are not recorded, and "
      "the CPU totals leave these blocks out");
}

/// The hooks of New() and reportMemoryUsageToProfiler() may both report a block: one event results.
void add_cpu_block(const void* address, std::int64_t bytes, std::uint64_t reserved) {
  BlockTable* const blocks = cpu_blocks.load(std::memory_order_acquire);
  if (blocks == nullptr || address == nullptr) return;
  const auto change = blocks->add(address, static_cast<std::uint64_t>(bytes));
  const auto before = static_cast<std::int64_t>(change.bytes_before);
  if (change.added == BlockTable::Added::kKnown && before == bytes) return;
  const bool counts = change.added != BlockTable::Added::kNoRoom;
  const std::int64_t more = counts ? bytes - before : 0;
  const std::int64_t total = cpu_bytes.fetch_add(more, std::memory_order_relaxed) + more;
  if (!counts) report_full_table();
  commit(address, bytes, static_cast<std::uint64_t>(total), reserved, kCpuDevice);
}

/// `reported`: negative size, or 0 if unknown. Also called between recordings, so that cpu_blocks has no freed blocks.
void remove_cpu_block(const void* address, std::int64_t reported, std::uint64_t reserved) {
  BlockTable* const blocks = cpu_blocks.load(std::memory_order_acquire);
  if (blocks == nullptr) return;
  const auto known = static_cast<std::int64_t>(blocks->remove(address));
  const std::int64_t bytes = reported != 0 ? reported : -known;
  if (bytes == 0) return;
  const std::int64_t total = cpu_bytes.fetch_sub(known, std::memory_order_relaxed) - known;
  if (recording()) commit(address, bytes, static_cast<std::uint64_t>(total), reserved, kCpuDevice);
}

template <class Total>
void report(RealFunction<Report<Total>>& real, void* address, std::int64_t bytes, Total allocated, Total reserved,
            c10::Device device) {
  real.call(address, bytes, allocated, reserved, device);
  if (!recorder::mode_has(kMemory)) return;
  if (device.type != kCpu) {
    if (recording()) {
      commit(address, bytes, static_cast<std::uint64_t>(allocated), static_cast<std::uint64_t>(reserved), device);
    }
  } else if (bytes < 0) {
    remove_cpu_block(address, bytes, static_cast<std::uint64_t>(reserved));
  } else if (bytes > 0 && recording()) {
    add_cpu_block(address, bytes, static_cast<std::uint64_t>(reserved));
  }
}

/// Skips the CPU: OutOfMemory() records its failed allocations.
template <class Total>
void report_out(RealFunction<ReportOut<Total>>& real, std::int64_t bytes, Total allocated, Total reserved,
                c10::Device device) {
  real.call(bytes, allocated, reserved, device);
  if (device.type == kCpu || !recording()) return;
  commit(nullptr, bytes, static_cast<std::uint64_t>(allocated), static_cast<std::uint64_t>(reserved), device, kFailed);
  session::allocation_failed(static_cast<std::uint64_t>(bytes), device.index, ticks());
}

/// A C++ program does not import PyTorch: its first block shows that PyTorch is loaded. The first block of a child of a
/// fork shows that the child uses PyTorch.
void attach_at_first_block() {
  std::atomic<bool>& is_noticed = process_words.has_block;
  if (__builtin_expect(is_noticed.load(std::memory_order_relaxed), 1) || is_noticed.exchange(true)) return;
  const int saved_errno = errno;
  if (session::requested()) {
    attach_if_loaded();
    inject::know_process();
  }
  errno = saved_errno;
}

}  // namespace

void find_memory_functions() {
  real_new.get();
  real_delete.get();
  real_report_1_13.get();
  real_report.get();
  real_report_out_1_13.get();
  real_report_out.get();
}

void start_memory() {
  if (!recorder::mode_has(kMemory)) return;
  if (inject::resolve_in(kAddCallback, Layer::kTorch) != nullptr && real_new.get() == nullptr) {
    recorder::problem(
        "torch",
        "capture.profile_memory: memory events may be missing: this PyTorch reports memory differently from the "
        "supported releases (1.13 to 2.15)");
  }
  void* const memory = mmap(nullptr, sizeof(BlockTable), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) {
    recorder::missing("torch",
                      "capture.profile_memory: no host memory for the list of CPU blocks: CPU memory is not recorded");
    return;
  }
  // A zeroed table is empty; a constructor would touch every page.
  cpu_blocks.store(static_cast<BlockTable*>(memory), std::memory_order_release);
}

}  // namespace profshim::torch

namespace c10 {

using namespace profshim::torch;

class [[gnu::visibility("default")]] ProfiledCPUMemoryReporter {
 public:
  void New(void* address, std::size_t bytes);
  void Delete(void* address);
  void OutOfMemory(std::size_t bytes);
};

void ProfiledCPUMemoryReporter::New(void* address, std::size_t bytes) {
  real_new.call(this, address, bytes);
  attach_at_first_block();
  if (recording() && bytes != 0) add_cpu_block(address, static_cast<std::int64_t>(bytes), 0);
}

// Called before the block is freed, so no other thread can get its address.
void ProfiledCPUMemoryReporter::Delete(void* address) {
  real_delete.call(this, address);
  if (profshim::recorder::mode_has(kMemory)) remove_cpu_block(address, 0, 0);
}

void ProfiledCPUMemoryReporter::OutOfMemory(std::size_t bytes) {
  real_out.call(this, bytes);
  if (!recording() || bytes == 0) return;
  commit(nullptr, static_cast<std::int64_t>(bytes),
         static_cast<std::uint64_t>(cpu_bytes.load(std::memory_order_relaxed)), 0, kCpuDevice, profshim::kFailed);
  profshim::session::allocation_failed(bytes, kCpuDevice.index, profshim::ticks());
}

#define EXPORTED [[gnu::visibility("default")]]

EXPORTED void reportMemoryUsageToProfiler(void* address, std::int64_t bytes, std::int64_t allocated,
                                          std::int64_t reserved, Device device) {
  report(real_report_1_13, address, bytes, allocated, reserved, device);
}
EXPORTED void reportMemoryUsageToProfiler(void* address, std::int64_t bytes, std::size_t allocated,
                                          std::size_t reserved, Device device) {
  report(real_report, address, bytes, allocated, reserved, device);
}
EXPORTED void reportOutOfMemoryToProfiler(std::int64_t bytes, std::int64_t allocated, std::int64_t reserved,
                                          Device device) {
  report_out(real_report_out_1_13, bytes, allocated, reserved, device);
}
EXPORTED void reportOutOfMemoryToProfiler(std::int64_t bytes, std::size_t allocated, std::size_t reserved,
                                          Device device) {
  report_out(real_report_out, bytes, allocated, reserved, device);
}

}  // namespace c10
