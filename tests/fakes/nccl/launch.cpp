#include "fakes/nccl/launch.h"

#include <dlfcn.h>

#include <algorithm>
#include <functional>
#include <memory>
#include <mutex>
#include <string_view>
#include <thread>
#include <utility>

#include "fakes/environment.h"
#include "fakes/libcuda/device.h"

namespace fake::nccl {

thread_local int group_depth;

namespace {

struct Operation {
  Communicator* communicator;
  std::string kernel;
  void* stream;
  std::uint64_t bytes;
  bool is_collective;
  std::vector<Task> tasks;
};

thread_local std::vector<Operation> group;

struct LaunchConfig {
  unsigned grid[3], block[3], shared_bytes;
  void* stream;
  void* attributes;
  unsigned attribute_count;
};
struct Driver {
  int (*module_load)(void** module, const void* image);
  int (*get_function)(void** function, void* module, const char* name);
  int (*launch)(const LaunchConfig*, void* function, void** parameters, void** extra);
};
const Driver* driver() {
  static const Driver* const instance = []() -> const Driver* {
    if (!fake::device_or_null()) return nullptr;
    void* library = dlopen("libcuda.so.1", RTLD_NOW);
    static Driver found;
    found.module_load = reinterpret_cast<decltype(found.module_load)>(dlsym(library, "cuModuleLoadData"));
    found.get_function = reinterpret_cast<decltype(found.get_function)>(dlsym(library, "cuModuleGetFunction"));
    found.launch = reinterpret_cast<decltype(found.launch)>(dlsym(library, "cuLaunchKernelEx"));
    return found.module_load && found.get_function && found.launch ? &found : nullptr;
  }();
  return instance;
}

void* kernel_named(const std::string& name) {
  static std::mutex lock;
  static auto& kernels = *new std::map<std::string, void*>;
  const std::lock_guard guard(lock);
  void*& kernel = kernels[name];
  if (!kernel) {
    void* module = nullptr;
    const std::string mangled = "_Z" + std::to_string(name.size()) + name + "24ncclDevKernelArgsStorageILm4096EE";
    driver()->module_load(&module, nullptr);
    driver()->get_function(&kernel, module, mangled.c_str());
  }
  return kernel;
}

std::uint64_t duration_of(const Operation& operation) {
  static const std::uint64_t mbps = fake::number("FAKE_NCCL_MBPS", 100000);
  return 5000 + operation.bytes * 1000 / mbps;
}

/// Returns a gate that opens when the kernels of all ranks have begun.
fake::Gate gate_of(const Operation& operation) {
  Communicator& communicator = *operation.communicator;
  Shared* const shared = communicator.shared;
  const std::uint64_t number = ++communicator.collectives, duration = duration_of(operation);
  const int ranks = communicator.ranks, rank = communicator.rank;
  return [shared, number, duration, ranks, rank](std::uint64_t start, std::uint64_t& end) {
    auto& slots = shared->slots[number % 64];
    if (slots[rank].operation.load() != number) {
      slots[rank].start = start;
      slots[rank].operation = number;
    }
    std::uint64_t last = slots[rank].start;
    for (int i = 0; i < ranks; ++i) {
      // A rank in a later collective has passed this one.
      if (slots[i].operation.load() < number && !shared->aborted) return false;
      if (slots[i].operation.load() == number) last = std::max<std::uint64_t>(last, slots[i].start);
    }
    end = last + duration;
    return true;
  };
}

unsigned channels_of(std::uint64_t bytes) { return std::clamp<unsigned>(static_cast<unsigned>(bytes >> 16), 1, 24); }

int launch(const Operation& operation) {
  fake::Device& device = *fake::device_or_null();
  const int before = device.current_device();
  device.set_device(operation.communicator->device);
  void* const kernel = kernel_named(operation.kernel);
  if (operation.is_collective) {
    device.gate_next_kernel(gate_of(operation));
  } else {
    device.gate_next_kernel([duration = duration_of(operation)](std::uint64_t start, std::uint64_t& end) {
      end = start + duration;
      return true;
    });
  }
  LaunchConfig config{{channels_of(operation.bytes), 1, 1}, {544, 1, 1}, 82240, operation.stream, nullptr, 0};
  const int result = driver()->launch(&config, kernel, nullptr, nullptr);
  device.set_device(before);
  return result == 0 ? kSuccess : kUnhandledCudaError;
}

/// Reports operations that were launched together to the plugin, as one plan per communicator.
void profile(const std::vector<Operation>& operations) {
  std::map<Communicator*, std::vector<Task>> plans;
  for (const Operation& operation : operations) {
    auto& tasks = plans[operation.communicator];
    tasks.insert(tasks.end(), operation.tasks.begin(), operation.tasks.end());
  }
  for (auto& [communicator, tasks] : plans) {
    run_plan(communicator->profiler, communicator->rank, std::move(tasks), communicator->tasks);
  }
}

int launch_all(std::vector<Operation> operations) {
  if (operations.empty()) return kSuccess;
  if (!driver() || fake::device_or_null()->init() != 0) return kUnhandledCudaError;
  std::vector<Operation> merged;
  for (Operation& operation : operations) {
    const auto same = std::find_if(merged.begin(), merged.end(), [&](const Operation& other) {
      return !operation.is_collective && !other.is_collective && other.communicator == operation.communicator &&
             other.stream == operation.stream;
    });
    if (same != merged.end()) {
      same->bytes += operation.bytes;
      same->tasks.insert(same->tasks.end(), operation.tasks.begin(), operation.tasks.end());
    } else
      merged.push_back(std::move(operation));
  }
  if (Communicator* const first = merged.front().communicator; !first->blocking) {
    ++first->launching;
    std::thread([merged, first] {
      pause();
      for (const Operation& operation : merged) launch(operation);
      profile(merged);
      --first->launching;
    }).detach();
    return kInProgress;
  }
  int result = kSuccess;
  for (const Operation& operation : merged)
    if (const int error = launch(operation); error != kSuccess) result = error;
  profile(merged);
  return result;
}

}  // namespace

bool has_driver() { return driver() != nullptr; }

void clear_group() { group.clear(); }

int end_group() {
  if (group_depth == 0) return kInvalidUsage;
  if (--group_depth != 0) return kSuccess;
  begin_group_end();
  const int result = launch_all(std::exchange(group, {}));
  end_group_end();
  return result;
}

namespace {

const char* type_name(int type) {
  static constexpr const char* kNames[] = {"i8",  "u8",  "i32", "u32",  "i64",    "u64",
                                           "f16", "f32", "f64", "bf16", "f8e4m3", "f8e5m2"};
  return kNames[type];
}
const char* op_name(int op) {
  static constexpr const char* kNames[] = {"Sum", "Prod", "MinMax", "MinMax", "SumPostDiv"};
  return op >= 0 && op < 5 ? kNames[op] : "PreMulSum";
}

}  // namespace

std::size_t type_bytes(int type) {
  static constexpr std::size_t kBytes[] = {1, 1, 4, 4, 8, 8, 2, 4, 8, 2, 1, 1};
  return type >= 0 && type < 12 ? kBytes[type] : 0;
}

int enqueue(Communicator* communicator, const char* function, std::string kernel, std::uint64_t bytes, int type,
            int root, void* stream, bool is_collective) {
  if (!communicator || type_bytes(type) == 0 || root >= communicator->ranks) return kInvalidArgument;
  ++group_depth;
  Operation operation{communicator, std::move(kernel), stream, bytes, is_collective, {}};
  const auto add_task = [&](const char* task, bool collective, int peer) {
    operation.tasks.push_back({task, collective, bytes, peer, static_cast<std::uint8_t>(channels_of(bytes)),
                               begin_call(communicator->profiler, task, collective, bytes, stream)});
  };
  const std::string_view name = function;
  if (name == "AlltoAll" || name == "Gather" || name == "Scatter") {  // since 2.28; made of sends and receives
    for (int peer = 0; peer < communicator->ranks; ++peer) {
      if (name != "Gather" || peer == root) add_task("Send", false, peer);
      if (name != "Scatter" || peer == root) add_task("Recv", false, peer);
    }
  } else {
    add_task(function, is_collective, root);
  }
  group.push_back(std::move(operation));
  return end_group();
}

std::string kernel_with_op(const char* function, int op, int type) {
  return std::string("ncclDevKernel_") + function + "_" + op_name(op) + "_" +
         (type_bytes(type) ? type_name(type) : "") + "_RING_LL";
}

}  // namespace fake::nccl
