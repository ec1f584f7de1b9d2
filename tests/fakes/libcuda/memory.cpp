#include <atomic>
#include <cstdlib>
#include <string>

#include "fakes/environment.h"
#include "fakes/libcuda/simulator.h"

namespace fake {

namespace {

/// $FAKE_CUDA_OUT_OF_MEMORY_AT: "10" fails the tenth allocation of device memory, "10-12" three. CUDA Runtime API,
/// cudaMalloc: "Returns cudaErrorMemoryAllocation in case of failure"; the error is not sticky, so later calls work and
/// cudaGetLastError() clears it.
bool has_no_memory() {
  static const std::string wanted = text("FAKE_CUDA_OUT_OF_MEMORY_AT");
  static std::atomic<std::uint64_t> allocations{0};
  if (wanted.empty()) return false;
  const std::size_t dash = wanted.find('-');
  const std::uint64_t first = std::stoull(wanted);
  const std::uint64_t last = dash == std::string::npos ? first : std::stoull(wanted.substr(dash + 1));
  const std::uint64_t number = ++allocations;
  return number >= first && number <= last;
}

}  // namespace

void* Simulator::allocate(std::size_t bytes, MemoryKind kind) {
  if ((kind == MemoryKind::kDevice || kind == MemoryKind::kManaged) && has_no_memory()) return nullptr;
  void* const address = std::aligned_alloc(512, (bytes + 511) / 512 * 512);
  if (!address) return nullptr;
  Allocation made;
  {
    const std::lock_guard lock(lock_);
    const Stream* const stream = default_stream();
    made = {bytes, kind, stream->device, stream->context};
    allocations_[address] = made;
  }
  tell_memory(true, made, address);
  return address;
}

int Simulator::release(void* address) {
  if (!address) return kOk;
  Allocation was;
  {
    const std::lock_guard lock(lock_);
    const auto found = allocations_.find(address);
    if (found == allocations_.end()) return kInvalidValue;
    was = found->second;
    allocations_.erase(found);
  }
  tell_memory(false, was, address);
  std::free(address);
  return kOk;
}

MemoryKind Simulator::memory_kind(const void* address) {
  const std::lock_guard lock(lock_);
  auto after = allocations_.upper_bound(const_cast<void*>(address));
  if (after == allocations_.begin()) return MemoryKind::kPageable;
  --after;
  const auto offset = static_cast<std::size_t>(static_cast<const char*>(address) - static_cast<char*>(after->first));
  return offset < after->second.bytes ? after->second.kind : MemoryKind::kPageable;
}

void Simulator::tell_memory(bool allocated, const Allocation& one, const void* address) {
  Observer* const observer = observer_;
  if (observer) observer->memory(allocated, one.kind, one.device, one.context, correlation(), address, one.bytes);
}

}  // namespace fake
