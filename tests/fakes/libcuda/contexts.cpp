#include <dlfcn.h>
#include <sched.h>

#include <cstdlib>
#include <cstring>
#include <utility>

#include "fakes/libcuda/simulator.h"

namespace fake {
namespace {

std::uint64_t thread_cpu_ns() {
  timespec now;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<std::uint64_t>(now.tv_sec) * 1000000000ull + static_cast<std::uint64_t>(now.tv_nsec);
}

}  // namespace

Simulator::Simulator() {
  if (const std::string path_name = path("FAKE_CUDA_TIMELINE"); !path_name.empty())
    timeline_ = std::fopen(path_name.c_str(), "we");
}

int Simulator::init() {
  // The injected library may call cuInit itself. That call must not wait for this one.
  if (initialized_.load(std::memory_order_acquire)) return init_result();
  bool first = false;
  {
    const std::lock_guard lock(init_lock_);
    first = !std::exchange(init_begun_, true);
    init_thread_ = first ? std::this_thread::get_id() : init_thread_;
  }
  if (first) {
    inject();  // before the search for devices, even if there is none: seen with libcuda 535 and 550
    initialized_.store(true, std::memory_order_release);
    if (Observer* observer = observer_) observer->driver_initialized();
  } else if (init_thread_ != std::this_thread::get_id()) {
    while (!initialized_.load(std::memory_order_acquire)) sched_yield();
  }
  return init_result();
}

bool Simulator::is_up() { return initialized_.load(std::memory_order_acquire) && !no_device_; }

int Simulator::driver_version() { return static_cast<int>(number("FAKE_CUDA_DRIVER", FAKE_CUDA_DRIVER_VERSION)); }

int Simulator::device_count() { return no_device_ ? 0 : device_count_; }

int Simulator::current_device() { return current_device_of_thread; }

int Simulator::set_device(int device) {
  if (device < 0 || device >= device_count()) return kInvalidDevice;
  current_device_of_thread = device;
  current_context_of_thread = 0;
  return kOk;
}

void* Simulator::context() {
  const std::lock_guard lock(lock_);
  return handle_of(default_stream()->context);
}

bool Simulator::has_primary_context(int device) {
  const std::lock_guard lock(lock_);
  return defaults_.count(primary_of(static_cast<std::uint32_t>(device))) != 0;
}

void* Simulator::create_context(int device) {
  if (set_device(device) != kOk) return nullptr;
  const std::lock_guard lock(lock_);
  current_context_of_thread = 1000 + ++contexts_made_;
  return handle_of(default_stream()->context);
}

int Simulator::set_context(void* handle) {
  const std::lock_guard lock(lock_);
  const auto found = defaults_.find(context_of(handle));
  if (found == defaults_.end()) return kInvalidHandle;
  current_device_of_thread = static_cast<int>(found->second->device);
  current_context_of_thread = found->first;
  return kOk;
}

int Simulator::destroy_context(void* handle) {
  const std::lock_guard lock(lock_);
  const std::uint32_t context = context_of(handle);
  if (context < 1000 || defaults_.count(context) == 0) return kInvalidHandle;
  forget(context);
  if (current_context_of_thread == context) current_context_of_thread = 0;
  return kOk;
}

int Simulator::reset() {
  synchronize_device();
  const std::lock_guard lock(lock_);
  const std::uint32_t context = primary_of(static_cast<std::uint32_t>(current_device_of_thread));
  if (defaults_.count(context) == 0) return kOk;
  forget(context);
  current_context_of_thread = 0;
  ++resets_[static_cast<std::uint32_t>(current_device_of_thread)];
  return kOk;
}

// The CPU makes a context, so this takes longer on a busy machine.
void Simulator::make_first_context() {
  if (first_context_.load(std::memory_order_acquire)) return;
  const std::lock_guard lock(context_lock_);
  if (first_context_) return;
  const std::uint64_t took_ns = number("FAKE_CUDA_CONTEXT_MS", 150) * 1'000'000, end_ns = realtime_ns() + took_ns;
  for (const std::uint64_t until_ns = thread_cpu_ns() + took_ns / 5; thread_cpu_ns() < until_ns;) {
  }
  wait_until(end_ns);
  first_context_.store(true, std::memory_order_release);
}

bool Simulator::take_driver(const void* copy) {
  const void* owner = nullptr;
  return cupti_.compare_exchange_strong(owner, copy) || owner == copy;
}

void Simulator::let_driver_go(const void* copy) { cupti_.compare_exchange_strong(copy, nullptr); }

void Simulator::tell_of_contexts() {
  const std::lock_guard lock(lock_);
  for (const auto& [context, stream] : defaults_)
    if (Observer* observer = observer_) observer->created_context(stream->device, stream->context);
}

void Simulator::tell_of_streams() {
  const std::lock_guard lock(lock_);
  for (const Stream* stream : streams_)
    if (Observer* observer = observer_) observer->created_stream(stream->context, stream->id, stream->priority);
}

void Simulator::begin_call(CallState& call) {
  call.outer = innermost_call;
  innermost_call = &call;
  call.correlation = call.outer ? call.outer->correlation : ++correlations_;
  call.began = call.outer ? call.outer->began : realtime_ns();
  if (Observer* observer = observer_.load(std::memory_order_acquire)) observer->enter(call);
}

void Simulator::end_call(CallState& call) {
  if (Observer* observer = observer_.load(std::memory_order_acquire)) observer->exit(call);
  innermost_call = call.outer;
}

std::uint32_t Simulator::correlation() { return innermost_call ? innermost_call->correlation : 0; }

void Simulator::inject() {
  const char* library = std::getenv("CUDA_INJECTION64_PATH");
  if (!library || !*library || std::strcmp(library, "none") == 0) return;
  void* handle = dlopen(library, RTLD_NOW);
  if (!handle) {
    std::fprintf(stderr, "fake driver: %s\n", dlerror());
    return;
  }
  if (auto* start = reinterpret_cast<int (*)()>(dlsym(handle, "InitializeInjection"))) start();
}

int Simulator::init_result() const { return no_device_ ? kNoDevice : kOk; }

void* Simulator::handle_of(std::uint32_t context) { return reinterpret_cast<void*>(std::uintptr_t{0x1000} + context); }

std::uint32_t Simulator::context_of(void* handle) {
  return static_cast<std::uint32_t>(reinterpret_cast<std::uintptr_t>(handle) - 0x1000);
}

std::uint32_t Simulator::primary_of(std::uint32_t device) { return device + 1 + resets_[device] * 64; }

void Simulator::forget(std::uint32_t context) {
  std::erase_if(streams_, [context](const Stream* one) { return one->context == context; });
  defaults_.erase(context);
  seen_.clear();  // kernels load again in a new context
}

Stream* Simulator::default_stream() {
  const auto device = static_cast<std::uint32_t>(current_device_of_thread);
  const std::uint32_t context = current_context_of_thread != 0 ? current_context_of_thread : primary_of(device);
  Stream*& stream = defaults_[context];
  if (!stream) {
    stream = new Stream{7, device, context};
    next_streams_.emplace(context, 13);
    streams_.insert(stream);
    if (Observer* observer = observer_) {
      observer->created_context(device, stream->context);
      observer->created_stream(stream->context, stream->id, 0);
    }
  }
  return stream;
}

}  // namespace fake
