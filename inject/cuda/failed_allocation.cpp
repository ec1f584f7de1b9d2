#include <dlfcn.h>

#include <cerrno>
#include <cstring>

#include "hooks.h"
#include "inject/core/loader/resolve.h"
#include "profshim/recorder.h"
#include "profshim/session.h"

namespace profshim::cuda {
namespace {

constexpr std::int16_t kCudaDevice = 1;  // c10::DeviceType

/// PyTorch's allocator empties its cache and tries again. It reports the failure of that.
bool is_of_pytorch(const void* caller) {
  Dl_info library = {};
  if (dladdr(caller, &library) == 0 || library.dli_fname == nullptr) return false;
  return std::strstr(library.dli_fname, "libc10_cuda.so") != nullptr;
}

int present_device() {
  int device = 0;
  for (const char* name : {"cudaGetDevice", "cuCtxGetDevice"}) {
    auto* const get = reinterpret_cast<int (*)(int*)>(inject::resolve(name, Layer::kCuda));
    if (get != nullptr && get(&device) == 0) return device;
  }
  return session::kUnknownDevice;
}

}  // namespace

void note_failed_allocation(std::uint64_t bytes, const void* caller) {
  if (!recorder::mode_has(recorder::kArmed | recorder::kCuda)) return;
  const Spec* const spec = session::spec();
  if (spec == nullptr || !spec->profile_memory || is_of_pytorch(caller)) return;
  const int saved_errno = errno;
  Event event;
  event.begin = event.end = ticks();  // before the call below, which CUPTI may record
  event.hook = HookId::kTorchMemory;
  event.flags = kFailed;
  event.memory = {};
  event.memory.bytes = static_cast<std::int64_t>(bytes);
  event.memory.allocated = event.memory.reserved = kUnknownTotal;
  event.memory.device_type = kCudaDevice;
  const int device = present_device();
  event.memory.device_index = static_cast<std::int16_t>(device);
  if (spool::Thread* const thread = recorder::this_thread()) {
    recorder::commit(*thread, event);
  } else {
    recorder::lose_event(recorder::kMemory);
  }
  session::allocation_failed(bytes, device, event.end + 1);
  errno = saved_errno;
}

}  // namespace profshim::cuda
