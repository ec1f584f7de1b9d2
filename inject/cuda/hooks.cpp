// These hooks make steps at cudaProfilerStart, see allocations fail, and record calls while CUPTI is not available.
// libcudart and libcuda (-Bsymbolic) do not call themselves through these symbols, so no guard against re-entrancy is
// needed.
#include "hooks.h"

#include <atomic>
#include <cerrno>
#include <string_view>

#include "abi.h"
#include "inject/core/loader/real_function.h"
#include "inject/core/loader/resolve.h"
#include "inject/core/macros.h"
#include "profshim/device.h"
#include "profshim/hooks/ids.h"
#include "profshim/recorder.h"
#include "profshim/session.h"

namespace profshim::cuda {
namespace {

constinit std::atomic<void (*)()> before_first_call{nullptr}, after_first_call{nullptr};

// Waits until CUPTI can record even a launch that is the first CUDA call. cudaGetDeviceCount initializes CUDA without
// making a context.
void await_cupti() {
  static constinit std::atomic<bool> initialized{false};
  if (!session::requested()) return;
  if (!initialized.exchange(true)) {
    int devices = 0;
    auto* const count = reinterpret_cast<int (*)(int*)>(inject::resolve("cudaGetDeviceCount", Layer::kCuda));
    if (count != nullptr) count(&devices);
    if (void (*const function)() = before_first_call.exchange(nullptr)) function();
  }
  device::await_start();
}

void note_stream(CudaCallArgs& call, Handle stream) {
  call.stream = reinterpret_cast<std::uint64_t>(stream);
  call.has_stream = 1;
}
void note_copy(CudaCallArgs& call, Size bytes, Int kind) {
  call.bytes = bytes;
  call.has_bytes = 1;
  call.copy_kind = kind >= kHostToHost && kind <= kDefaultCopy ? static_cast<std::uint8_t>(kind) : kNoByte;
}
void note_bytes(CudaCallArgs& call, Size bytes) {
  call.bytes = bytes;
  call.has_bytes = 1;
}

constexpr auto nothing = [](CudaCallArgs&, auto...) {};
constexpr auto on_stream_0 = [](CudaCallArgs& call, Handle stream) { note_stream(call, stream); };
constexpr auto on_stream_1 = [](CudaCallArgs& call, Ptr, Handle stream) { note_stream(call, stream); };

constexpr auto function_launch = [](CudaCallArgs& call, Ptr function, Dim3, Dim3, Ptr, Size, Handle stream) {
  call.kernel = name_of_function(function);
  note_stream(call, stream);
};
constexpr auto kernel_launch = [](CudaCallArgs& call, Ptr kernel, Dim3, Dim3, Ptr, Size, Handle stream) {
  call.kernel = name_of_kernel(kernel);
  note_stream(call, stream);
};
constexpr auto configured_launch = [](CudaCallArgs& call, Ptr config, Ptr function, Ptr) {
  call.kernel = name_of_function(function);
  if (config != nullptr) note_stream(call, static_cast<const RuntimeLaunchConfig*>(config)->stream);
};
constexpr auto driver_launch = [](CudaCallArgs& call, Handle function, Unsigned, Unsigned, Unsigned, Unsigned, Unsigned,
                                  Unsigned, Unsigned, Handle stream, Ptr, Ptr) {
  call.kernel = name_of_driver_function(function);
  note_stream(call, stream);
};
constexpr auto driver_cooperative = [](CudaCallArgs& call, Handle function, Unsigned, Unsigned, Unsigned, Unsigned,
                                       Unsigned, Unsigned, Unsigned, Handle stream, Ptr) {
  call.kernel = name_of_driver_function(function);
  note_stream(call, stream);
};
constexpr auto driver_configured = [](CudaCallArgs& call, Ptr config, Handle function, Ptr, Ptr) {
  call.kernel = name_of_driver_function(function);
  if (config != nullptr) note_stream(call, static_cast<const DriverLaunchConfig*>(config)->stream);
};

constexpr auto allocation = [](CudaCallArgs& call, Ptr, Size bytes, auto...) { note_bytes(call, bytes); };
constexpr auto pitched_allocation = [](CudaCallArgs& call, Ptr, Ptr, Size width, Size height) {
  note_bytes(call, width * height);
};
constexpr auto allocation_on_stream = [](CudaCallArgs& call, Ptr, Size bytes, Handle stream) {
  note_bytes(call, bytes);
  note_stream(call, stream);
};
constexpr auto allocation_from_pool = [](CudaCallArgs& call, Ptr, Size bytes, Handle, Handle stream) {
  note_bytes(call, bytes);
  note_stream(call, stream);
};
/// True for the describers of calls that allocate. clang overlooks uses in constant expressions.
[[maybe_unused]] constexpr bool allocates(const void* describer) {
  return describer == &allocation || describer == &pitched_allocation || describer == &allocation_on_stream ||
         describer == &allocation_from_pool;
}

constexpr auto copy = [](CudaCallArgs& call, Ptr, Ptr, Size bytes, Int kind) { note_copy(call, bytes, kind); };
constexpr auto copy_on_stream = [](CudaCallArgs& call, Ptr, Ptr, Size bytes, Int kind, Handle stream) {
  note_copy(call, bytes, kind);
  note_stream(call, stream);
};
constexpr auto copy_2d = [](CudaCallArgs& call, Ptr, Size, Ptr, Size, Size width, Size height, Int kind) {
  note_copy(call, width * height, kind);
};
constexpr auto copy_2d_on_stream = [](CudaCallArgs& call, Ptr, Size, Ptr, Size, Size width, Size height, Int kind,
                                      Handle stream) {
  note_copy(call, width * height, kind);
  note_stream(call, stream);
};
constexpr auto copy_of_symbol = [](CudaCallArgs& call, Ptr, Ptr, Size bytes, Size, Int kind) {
  note_copy(call, bytes, kind);
};
constexpr auto copy_of_symbol_on_stream = [](CudaCallArgs& call, Ptr, Ptr, Size bytes, Size, Int kind, Handle stream) {
  note_copy(call, bytes, kind);
  note_stream(call, stream);
};
constexpr auto copy_between_devices = [](CudaCallArgs& call, Ptr, Int, Ptr, Int, Size bytes) {
  note_copy(call, bytes, kDeviceToDevice);
};
constexpr auto copy_between_devices_on_stream = [](CudaCallArgs& call, Ptr, Int, Ptr, Int, Size bytes, Handle stream) {
  note_copy(call, bytes, kDeviceToDevice);
  note_stream(call, stream);
};
constexpr auto set = [](CudaCallArgs& call, Ptr, Int, Size bytes) { note_bytes(call, bytes); };
constexpr auto set_on_stream = [](CudaCallArgs& call, Ptr, Int, Size bytes, Handle stream) {
  note_bytes(call, bytes);
  note_stream(call, stream);
};
constexpr auto set_2d = [](CudaCallArgs& call, Ptr, Size, Int, Size width, Size height) {
  note_bytes(call, width * height);
};
constexpr auto set_2d_on_stream = [](CudaCallArgs& call, Ptr, Size, Int, Size width, Size height, Handle stream) {
  note_bytes(call, width * height);
  note_stream(call, stream);
};

/// The function that cuGetProcAddress() returned for a row; null = it was not asked.
template <HookId hook>
constinit std::atomic<void*> driver_function{nullptr};

/// `caller`: return address of the hook.
template <const auto& describe, class... Arguments>
void after_call(int result, const void* caller, Arguments... arguments) {
  if constexpr (allocates(&describe)) {
    if (__builtin_expect(result != kOutOfMemory, 1)) return;
    CudaCallArgs call = {};
    describe(call, arguments...);
    note_failed_allocation(call.bytes, caller);
  }
}

constexpr std::uint32_t kRecords = recorder::kCudaCalls | recorder::kCuda | recorder::kArmed;

constexpr bool begins_range(HookId hook) { return hook == hooks::cudaProfilerStart || hook == hooks::cuProfilerStart; }
constexpr bool ends_range(HookId hook) { return hook == hooks::cudaProfilerStop || hook == hooks::cuProfilerStop; }

/// How the job has found a function: its calls forward to the function that was found that way.
enum class Found { kByName, kByDriver };  // kByDriver: cuGetProcAddress() and the like

template <HookId hook, Found found, const auto& describe, class... Arguments>
struct CallOf {
  using Function = int(Arguments...);

  static int call(const char* name, Arguments... arguments) {
    Function* const real = known.load(std::memory_order_acquire);
    if (__builtin_expect(real == nullptr, 0)) return first_call_of_function(name, arguments...);
    const std::uint32_t mode = recorder::mode();
    if constexpr (begins_range(hook) || ends_range(hook)) {
      if ((mode & recorder::kCudaSteps) != 0) {
        session::on_profiler_range(begins_range(hook), ticks());
        return call_now(real, arguments...);
      }
    }
    if (__builtin_expect((mode & kRecords) != kRecords, 1)) return real(arguments...);
    return recorded_call(real, arguments...);
  }

 private:
  static constinit inline std::atomic<Function*> known{nullptr};

  static void* real_function(const char* name) {
    if constexpr (found == Found::kByDriver) return driver_function<hook>.load(std::memory_order_acquire);
    const char* const names[] = {name};
    return inject::real_function(hook).get(Layer::kCuda, names);
  }

  /// The step boundary may have changed the mode.
  static int call_now(Function* real, Arguments... arguments) {
    return recorder::mode_has(kRecords) ? recorded_call(real, arguments...) : real(arguments...);
  }

  [[gnu::noinline]] static int recorded_call(Function* real, Arguments... arguments) {
    spool::Thread* const thread = recorder::this_thread();
    if (thread == nullptr) {
      recorder::lose_event(kRecords);
      return real(arguments...);
    }
    Event* const event = recorder::open_call(*thread);
    if (event == nullptr) return real(arguments...);
    *event = Event{};
    event->hook = hook;
    event->cuda_call = {};
    event->cuda_call.copy_kind = kNoByte;
    describe(event->cuda_call, arguments...);
    recorder::begin(*event);
    const int result = real(arguments...);
    if (__builtin_expect(recorder::mode() == 0, 0)) return result;
    event->cuda_call.result = result;
    if (result != 0) event->flags |= kFailed;
    recorder::end(*thread, *event);
    return result;
  }

  [[gnu::noinline]] static int first_call_of_function(const char* name, Arguments... arguments) {
    const int errno_before = errno;
    auto* const real = reinterpret_cast<Function*>(real_function(name));
    if (real == nullptr) return kSymbolNotFound;
    await_cupti();
    known.store(real, std::memory_order_release);
    errno = errno_before;
    const int result = call(name, arguments...);
    if (result == 0 && after_first_call.load(std::memory_order_relaxed) != nullptr) {
      const int errno_after = errno;
      if (void (*const function)() = after_first_call.exchange(nullptr)) function();
      errno = errno_after;
    }
    return result;
  }
};

}  // namespace

void on_first_call(void (*before)(), void (*after)()) {
  before_first_call.store(before, std::memory_order_relaxed);
  after_first_call.store(after, std::memory_order_relaxed);
}

}  // namespace profshim::cuda

#define CUDA_PARAMETER(A, a) ::profshim::cuda::A a
#define CUDA_TYPE(A, a) ::profshim::cuda::A
// The body of a hook.
#define CUDA_CALL(name, found, describer, ...)                                                                 \
  {                                                                                                            \
    using Call =                                                                                               \
        ::profshim::cuda::CallOf<::profshim::hooks::name, ::profshim::cuda::Found::found,                      \
                                 ::profshim::cuda::describer __VA_OPT__(, ) MPI_EACH(CUDA_TYPE, __VA_ARGS__)>; \
    const int result = Call::call(#name __VA_OPT__(, ) MPI_EACH(MPI_NAME, __VA_ARGS__));                       \
    ::profshim::cuda::after_call<::profshim::cuda::describer>(                                                 \
        result, __builtin_return_address(0) __VA_OPT__(, ) MPI_EACH(MPI_NAME, __VA_ARGS__));                   \
    return result;                                                                                             \
  }

#define HOOK(name, shown, describer, ...)                                                           \
  extern "C" __attribute__((visibility("default"))) int name(MPI_EACH(CUDA_PARAMETER, __VA_ARGS__)) \
      CUDA_CALL(name, kByName, describer, __VA_ARGS__)
#include "profshim/hooks/cuda.def"
#undef HOOK

namespace profshim::cuda {
namespace {

template <HookId hook>
struct ByDriver;
#define HOOK(name, shown, describer, ...)                                                                         \
  template <>                                                                                                     \
  struct ByDriver<hooks::name> {                                                                                  \
    static int function(MPI_EACH(CUDA_PARAMETER, __VA_ARGS__)) CUDA_CALL(name, kByDriver, describer, __VA_ARGS__) \
  };
#include "profshim/hooks/cuda.def"
#undef HOOK

constexpr bool is_of_driver(std::string_view row) { return row.starts_with("cu") && !row.starts_with("cuda"); }

/// True if cuGetProcAddress(asked) returns a function with the arguments of the row. Its names have no endings; the
/// only row with one, cuMemAlloc_v2, replaced a function with other arguments in CUDA 3.2.
constexpr bool stands_for(std::string_view row, std::string_view asked, int version) {
  if (row.ends_with("_ptsz")) row.remove_suffix(5);
  if (!row.ends_with("_v2")) return row == asked;
  row.remove_suffix(3);
  return row == asked && version >= 3020;
}

/// The first row takes `found`, and a row _ptsz the variant for the other default stream.
template <HookId hook, bool of_driver>
void* take(std::string_view row, const char* asked, int version, void* found) {
  if constexpr (of_driver) {
    if (!stands_for(row, asked, version)) return nullptr;
    void* taken = nullptr;
    if (driver_function<hook>.compare_exchange_strong(taken, found, std::memory_order_acq_rel) || taken == found) {
      return reinterpret_cast<void*>(&ByDriver<hook>::function);
    }
  }
  return nullptr;
}

}  // namespace

void* hook_of_driver_function(const char* asked, int version, void* found) {
  void* taken = nullptr;
#define HOOK(name, ...) \
  if (taken == nullptr) taken = take<hooks::name, is_of_driver(#name)>(#name, asked, version, found);
#include "profshim/hooks/cuda.def"
#undef HOOK
  return taken;
}

}  // namespace profshim::cuda
