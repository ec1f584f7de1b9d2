// libnccl.so.2 of the fakes: every public function of NCCL 2.28 and the growing of communicators of 2.29,
// whatever version it says it is, for up to 8 ranks in one or several processes of one machine. No data moves. What it
// does as the real one: work starts at the outermost ncclGroupEnd (for communicators that do not block, in a thread of
// its own), through cuLaunchKernelEx; one kernel per collective, which ends when the last rank's has begun and the
// bytes have had their time; one kernel for the sends and receives of a group; ncclX is weak beside pncclX; ncclBcast
// calls ncclBroadcast; ranges in the NVTX domain "NCCL".
//
// Environment: FAKE_NCCL_MBPS, bus bandwidth in MB/s (100000), besides 5 us for each operation.
#include <dlfcn.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <climits>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <random>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#if __has_include(<nvtx3/nvToolsExtPayload.h>)
#include <nvtx3/nvToolsExt.h>
#include <nvtx3/nvToolsExtPayload.h>
#define FAKE_NCCL_NVTX 1
#endif

#include "fakes/environment.h"
#include "fakes/fake_device.h"
#include "fakes/fake_nccl_profiler.h"
#include "inject/nccl/growth.h"

namespace {

enum Result : int {
  kSuccess = 0,
  kUnhandledCudaError = 1,
  kSystemError = 2,
  kInvalidArgument = 4,
  kInvalidUsage = 5,
  kInProgress = 7,
};
constexpr int kMaximumRanks = 8, kNoColour = -1;

struct UniqueId {
  char bytes[128];
};
struct Config {  // the first fields of ncclConfig_t
  std::size_t size;
  unsigned magic, version;
  int blocking;
};
struct SimulationInfo {
  std::size_t size;
  unsigned magic, version;
  float estimated_time;
};

/// What the ranks of a communicator share.
struct Shared {
  std::atomic<std::uint32_t> arrived, aborted;
  struct Slot {
    std::atomic<std::uint64_t> operation;  // 1-based
    std::atomic<std::uint64_t> start;
  } slots[64][kMaximumRanks];
  struct Split {
    std::atomic<std::uint32_t> written;
    int colour[kMaximumRanks], key[kMaximumRanks];
  } splits[64];
};

struct Communicator {
  std::string name;  // of the shared memory
  Shared* shared = nullptr;
  std::uint64_t hash = 0;
  int ranks = 1, rank = 0, device = 0;
  bool blocking = true;
  std::atomic<int> launching{0};  // threads that launch what does not block
  std::uint64_t collectives = 0;
  std::uint32_t splits = 0;
  std::uint64_t magic = 0;     // its id begins with
  std::uint32_t children = 0;  // splits and growths
  bool is_profiled = false;
  void* profiler = nullptr;                    // the plugin's context
  std::map<std::string, std::uint64_t> tasks;  // of each function so far
  Communicator() = default;
  Communicator(const Communicator&) = delete;
  Communicator& operator=(const Communicator&) = delete;
  ~Communicator() {
    if (is_profiled) fake::nccl::end_communicator(profiler);
  }
};

/// One operation between its call and the end of its group.
struct Operation {
  Communicator* communicator;
  std::string kernel;
  void* stream;
  std::uint64_t bytes;
  bool is_collective;
  std::vector<fake::nccl::Task> tasks;
};

thread_local int group_depth;
thread_local std::vector<Operation> group;

std::uint64_t hash_of(const std::string& text) {
  std::uint64_t hash = 1469598103934665603ull;
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 1099511628211ull;
  return hash;
}

void pause() {
  const timespec time{0, 50000};
  nanosleep(&time, nullptr);
}

template <typename Condition>
int wait_for(Condition condition) {
  for (int i = 0; i < 1200000; ++i) {  // a minute
    if (condition()) return kSuccess;
    pause();
  }
  return kSystemError;
}

// ---- the driver ----------------------------------------------------------------------------------------------------

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

/// Opens when all ranks' kernels of this collective have begun; it then ends so much after the last of them.
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
      // Who has come to a later one has passed this one.
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

/// What the profiler is told of all that was launched together: one plan for each communicator.
void profile(const std::vector<Operation>& operations) {
  std::map<Communicator*, std::vector<fake::nccl::Task>> plans;
  for (const Operation& operation : operations) {
    auto& tasks = plans[operation.communicator];
    tasks.insert(tasks.end(), operation.tasks.begin(), operation.tasks.end());
  }
  for (auto& [communicator, tasks] : plans) {
    fake::nccl::run_plan(communicator->profiler, communicator->rank, std::move(tasks), communicator->tasks);
  }
}

/// The outermost end of a group: sends and receives of one communicator and stream share a kernel.
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

int end_group() {
  if (group_depth == 0) return kInvalidUsage;
  if (--group_depth != 0) return kSuccess;
  fake::nccl::begin_group_end();
  const int result = launch_all(std::exchange(group, {}));
  fake::nccl::end_group_end();
  return result;
}

// ---- operations ----------------------------------------------------------------------------------------------------

std::size_t type_bytes(int type) {
  static constexpr std::size_t kBytes[] = {1, 1, 4, 4, 8, 8, 2, 4, 8, 2, 1, 1};
  return type >= 0 && type < 12 ? kBytes[type] : 0;
}
const char* type_name(int type) {
  static constexpr const char* kNames[] = {"i8",  "u8",  "i32", "u32",  "i64",    "u64",
                                           "f16", "f32", "f64", "bf16", "f8e4m3", "f8e5m2"};
  return kNames[type];
}
const char* op_name(int op) {
  static constexpr const char* kNames[] = {"Sum", "Prod", "MinMax", "MinMax", "SumPostDiv"};
  return op >= 0 && op < 5 ? kNames[op] : "PreMulSum";
}

int enqueue(Communicator* communicator, const char* function, std::string kernel, std::uint64_t bytes, int type,
            int root, void* stream, bool is_collective) {
  if (!communicator || type_bytes(type) == 0 || root >= communicator->ranks) return kInvalidArgument;
  ++group_depth;
  Operation operation{communicator, std::move(kernel), stream, bytes, is_collective, {}};
  const auto add_task = [&](const char* task, bool collective, int peer) {
    operation.tasks.push_back({task, collective, bytes, peer, static_cast<std::uint8_t>(channels_of(bytes)),
                               fake::nccl::begin_call(communicator->profiler, task, collective, bytes, stream)});
  };
  const std::string_view name = function;
  if (name == "AlltoAll" || name == "Gather" || name == "Scatter") {  // since 2.28, and made of these
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

// ---- communicators -------------------------------------------------------------------------------------------------

/// Maps what the ranks share; the last one to come takes its name away again.
int join(Communicator& communicator, bool wait) {
  const int file = shm_open(communicator.name.c_str(), O_RDWR | O_CREAT, 0600);
  if (file < 0 || ftruncate(file, sizeof(Shared)) != 0) return kSystemError;
  void* const memory = mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  close(file);
  if (memory == MAP_FAILED) return kSystemError;
  communicator.shared = static_cast<Shared*>(memory);
  const auto everybody = static_cast<std::uint32_t>(communicator.ranks);
  if (communicator.shared->arrived.fetch_add(1) + 1 == everybody) shm_unlink(communicator.name.c_str());
  if (!wait) return kSuccess;
  return wait_for([&] { return communicator.shared->arrived.load() >= everybody; });
}

int create(Communicator** out, const std::string& name, int ranks, int rank, int device, const Config* config,
           bool wait) {
  if (!out || ranks < 1 || ranks > kMaximumRanks || rank < 0 || rank >= ranks) return kInvalidArgument;
  if (!driver() || fake::device_or_null()->init() != 0) return kUnhandledCudaError;
  auto communicator = std::make_unique<Communicator>();
  communicator->name = name;
  communicator->hash = hash_of(name);
  communicator->ranks = ranks;
  communicator->rank = rank;
  communicator->device = device;
  communicator->blocking = !config || config->blocking != 0;
  if (const int result = join(*communicator, wait && communicator->blocking); result != kSuccess) return result;
  communicator->is_profiled = true;
  communicator->profiler = fake::nccl::begin_communicator(communicator->hash, ranks, rank);
  const int result = communicator->blocking ? kSuccess : kInProgress;
  *out = communicator.release();
  return result;
}

/// The id of the next growth: rank 0 hands it to the new ranks, the others make it themselves.
UniqueId growth_id(const Communicator& parent) {
  const std::uint64_t magic = profshim::nccl::magic_of_growth(parent.magic, parent.children + 1);
  UniqueId id{};
  std::memcpy(id.bytes, &magic, sizeof magic);
  return id;
}

std::string name_of(const UniqueId& id) {
  char name[40] = "/fake_nccl_";
  for (int i = 0; i < 12; ++i) std::snprintf(name + 11 + 2 * i, 3, "%02x", static_cast<unsigned char>(id.bytes[i]));
  return name;
}

int current_device() {
  fake::Device* const device = fake::device_or_null();
  return device ? device->current_device() : 0;
}

int create_by_id(Communicator** out, int ranks, const UniqueId& id, int rank, const Config* config) {
  const int result = create(out, name_of(id), ranks, rank, current_device(), config, group_depth == 0);
  if (out && *out && (result == kSuccess || result == kInProgress)) {
    std::memcpy(&(*out)->magic, id.bytes, sizeof(*out)->magic);
  }
  return result;
}

/// The communicator of those ranks of `parent` that give the same colour, in the order of their keys.
int split(Communicator* parent, int colour, int key, Communicator** out, const Config* config) {
  if (!parent || !out) return kInvalidArgument;
  const std::uint32_t number = parent->splits++;
  ++parent->children;
  auto& table = parent->shared->splits[number % 64];
  table.colour[parent->rank] = colour;
  table.key[parent->rank] = key;
  table.written.fetch_add(1);
  const auto everybody = static_cast<std::uint32_t>(parent->ranks);
  if (const int result = wait_for([&] { return table.written.load() >= everybody; }); result != kSuccess) return result;
  *out = nullptr;
  if (colour == kNoColour) return kSuccess;
  std::vector<std::pair<int, int>> members;  // key, rank
  for (int i = 0; i < parent->ranks; ++i)
    if (table.colour[i] == colour) members.emplace_back(table.key[i], i);
  std::sort(members.begin(), members.end());
  const auto me = std::find_if(members.begin(), members.end(), [&](const auto& m) { return m.second == parent->rank; });
  return create(out, parent->name + "_" + std::to_string(number) + "_" + std::to_string(colour),
                static_cast<int>(members.size()), static_cast<int>(me - members.begin()), parent->device, config, true);
}

// ---- NVTX ----------------------------------------------------------------------------------------------------------

/// A range in NCCL's domain around a public function, with the communicator, the bytes and one more number.
class Range {
 public:
#ifdef FAKE_NCCL_NVTX
  explicit Range(const char* function) {
    nvtxEventAttributes_t attributes = attributes_of(function);
    nvtxDomainRangePushEx(domain(), &attributes);
  }
  Range(const char* function, const Communicator* communicator, std::uint64_t bytes, const char* third, int value) {
    struct {
      std::uint64_t communicator, bytes;
      std::int32_t value;
    } const payload{communicator ? communicator->hash : 0, bytes, value};
    nvtxPayloadData_t data{schema(third), sizeof payload, &payload};
    nvtxEventAttributes_t attributes = attributes_of(function);
    attributes.payloadType = NVTX_PAYLOAD_TYPE_EXT;
    attributes.reserved0 = 1;
    attributes.payload.ullValue = reinterpret_cast<std::uint64_t>(&data);
    nvtxDomainRangePushEx(domain(), &attributes);
  }
  ~Range() { nvtxDomainRangePop(domain()); }

 private:
  static nvtxDomainHandle_t domain() {
    static nvtxDomainHandle_t const handle = nvtxDomainCreateA("NCCL");
    return handle;
  }
  static nvtxEventAttributes_t attributes_of(const char* function) {
    static std::mutex lock;
    static auto& names = *new std::map<const char*, nvtxStringHandle_t>;
    nvtxEventAttributes_t attributes{};
    attributes.version = NVTX_VERSION;
    attributes.size = NVTX_EVENT_ATTRIB_STRUCT_SIZE;
    attributes.messageType = NVTX_MESSAGE_TYPE_REGISTERED;
    const std::lock_guard guard(lock);
    nvtxStringHandle_t& name = names[function];
    if (!name) name = nvtxDomainRegisterStringA(domain(), function);
    attributes.message.registered = name;
    return attributes;
  }
  static std::uint64_t schema(const char* third) {
    static std::mutex lock;
    static auto& schemas = *new std::map<std::string, std::uint64_t>;
    const std::lock_guard guard(lock);
    std::uint64_t& id = schemas[third];
    if (id != 0) return id;
    const nvtxPayloadSchemaEntry_t entries[] = {
        {0, NVTX_PAYLOAD_ENTRY_TYPE_UINT64, "NCCL communicator ID", nullptr, 0, 0},
        {0, NVTX_PAYLOAD_ENTRY_TYPE_SIZE, "Message size [bytes]", nullptr, 0, 8},
        {0, NVTX_PAYLOAD_ENTRY_TYPE_INT32, third, nullptr, 0, 16},
    };
    nvtxPayloadSchemaAttr_t schema_attributes{};
    schema_attributes.fieldMask = NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_TYPE | NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_ENTRIES |
                                  NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_NUM_ENTRIES |
                                  NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_STATIC_SIZE;
    schema_attributes.type = NVTX_PAYLOAD_SCHEMA_TYPE_STATIC;
    schema_attributes.entries = entries;
    schema_attributes.numEntries = 3;
    schema_attributes.payloadStaticSize = 24;
    id = nvtxPayloadSchemaRegister(domain(), &schema_attributes);
    return id;
  }
#else
  explicit Range(const char*) {}
  Range(const char*, const Communicator*, std::uint64_t, const char*, int) {}
#endif
};

constexpr char kRoot[] = "Root", kPeer[] = "Peer rank", kOp[] = "Reduction operation", kRanks[] = "No. of ranks";

}  // namespace

// As in the real one: pncclX is the function, ncclX a weak name of it.
#define EXPORT(name, ...)                                                                                    \
  extern "C" __attribute__((visibility("default"))) int pnccl##name(__VA_ARGS__);                            \
  extern "C" __attribute__((visibility("default"), weak, alias("pnccl" #name))) int nccl##name(__VA_ARGS__); \
  extern "C" int pnccl##name(__VA_ARGS__)

EXPORT(GetVersion, int* version) {
  *version = fake::nccl::library_version();
  return kSuccess;
}
EXPORT(GetUniqueId, UniqueId* id) {
  const Range range("ncclGetUniqueId");
  std::random_device random;
  std::memset(id, 0, sizeof *id);
  for (int i = 0; i < 12; ++i) id->bytes[i] = static_cast<char>(random());
  return kSuccess;
}
EXPORT(CommInitRank, Communicator** out, int ranks, UniqueId id, int rank) {
  const Range range("ncclCommInitRank", nullptr, 0, kRanks, ranks);
  return create_by_id(out, ranks, id, rank, nullptr);
}
EXPORT(CommInitRankConfig, Communicator** out, int ranks, UniqueId id, int rank, Config* config) {
  const Range range("ncclCommInitRankConfig", nullptr, 0, kRanks, ranks);
  return create_by_id(out, ranks, id, rank, config);
}
EXPORT(CommInitRankScalable, Communicator** out, int ranks, int rank, int, UniqueId* ids, Config* config) {
  const Range range("ncclCommInitRankScalable", nullptr, 0, kRanks, ranks);
  return create_by_id(out, ranks, ids[0], rank, config);
}
EXPORT(CommInitAll, Communicator** out, int count, const int* devices) {
  const Range range("ncclCommInitAll", nullptr, 0, kRanks, count);
  UniqueId id;
  pncclGetUniqueId(&id);
  for (int i = 0; i < count; ++i)
    if (const int result = create(out + i, name_of(id), count, i, devices ? devices[i] : i, nullptr, false);
        result != kSuccess)
      return result;
  return kSuccess;
}
EXPORT(CommFinalize, Communicator* communicator) {
  const Range range("ncclCommFinalize");
  return communicator ? kSuccess : kInvalidArgument;
}
// The gates of work on its way still look at what is shared: it stays mapped.
EXPORT(CommDestroy, Communicator* communicator) {
  const Range range("ncclCommDestroy");
  if (communicator) wait_for([communicator] { return communicator->launching == 0; });
  delete communicator;
  return kSuccess;
}
EXPORT(CommAbort, Communicator* communicator) {
  const Range range("ncclCommAbort");
  if (communicator) communicator->shared->aborted = 1;
  delete communicator;
  return kSuccess;
}
EXPORT(CommRevoke, Communicator* communicator, int) {
  const Range range("ncclCommRevoke");
  if (!communicator) return kInvalidArgument;
  communicator->shared->aborted = 1;
  return kSuccess;
}
EXPORT(CommSplit, Communicator* communicator, int colour, int key, Communicator** out, Config* config) {
  const Range range("ncclCommSplit", communicator, 0, "Color", colour);
  return split(communicator, colour, key, out, config);
}
EXPORT(CommShrink, Communicator* communicator, int* excluded, int count, Communicator** out, Config* config, int) {
  const Range range("ncclCommShrink", communicator, 0, "No. of excluded ranks", count);
  if (!communicator || !out) return kInvalidArgument;
  // Only those that stay call it.
  std::vector<int> members;
  for (int i = 0; i < communicator->ranks; ++i)
    if (std::find(excluded, excluded + count, i) == excluded + count) members.push_back(i);
  const auto me = std::find(members.begin(), members.end(), communicator->rank);
  if (me == members.end()) return kInvalidArgument;
  return create(out, communicator->name + "_s" + std::to_string(communicator->splits++),
                static_cast<int>(members.size()), static_cast<int>(me - members.begin()), communicator->device, config,
                true);
}
EXPORT(CommGetUniqueId, Communicator* communicator, UniqueId* id) {
  const Range range("ncclCommGetUniqueId");
  if (!communicator || !id) return kInvalidArgument;
  *id = growth_id(*communicator);
  return kSuccess;
}
// Who was there before keeps its rank and passes -1; of those, only the one that has the id passes it.
EXPORT(CommGrow, Communicator* communicator, int ranks, const UniqueId* id, int rank, Communicator** out,
       Config* config) {
  const Range range("ncclCommGrow", communicator, 0, kRanks, ranks);
  if (!communicator) return id && rank >= 0 ? create_by_id(out, ranks, *id, rank, config) : kInvalidArgument;
  if (rank != -1 || ranks <= communicator->ranks) return kInvalidArgument;
  const UniqueId own = growth_id(*communicator);
  if (id && std::memcmp(id->bytes, own.bytes, sizeof own.bytes) != 0) return kInvalidArgument;
  ++communicator->children;
  return create_by_id(out, ranks, own, communicator->rank, config);
}
extern "C" __attribute__((visibility("default"))) const char* ncclGetErrorString(int result) {
  return result == kSuccess ? "no error" : "an error of the fake NCCL";
}
extern "C" __attribute__((visibility("default"))) const char* pncclGetErrorString(int result) {
  return ncclGetErrorString(result);
}
extern "C" __attribute__((visibility("default"))) const char* ncclGetLastError(Communicator*) { return ""; }
extern "C" __attribute__((visibility("default"))) const char* pncclGetLastError(Communicator*) { return ""; }
extern "C" __attribute__((visibility("default"))) void ncclResetDebugInit() {}
extern "C" __attribute__((visibility("default"))) void pncclResetDebugInit() {}
EXPORT(CommGetAsyncError, Communicator* communicator, int* error) {
  *error = communicator && communicator->launching > 0 ? kInProgress : kSuccess;
  return kSuccess;
}
EXPORT(CommCount, const Communicator* communicator, int* count) {
  if (!communicator) return kInvalidArgument;
  *count = communicator->ranks;
  return kSuccess;
}
EXPORT(CommCuDevice, const Communicator* communicator, int* device) {
  if (!communicator) return kInvalidArgument;
  *device = communicator->device;
  return kSuccess;
}
EXPORT(CommUserRank, const Communicator* communicator, int* rank) {
  if (!communicator) return kInvalidArgument;
  *rank = communicator->rank;
  return kSuccess;
}
EXPORT(MemAlloc, void** address, std::size_t bytes) {
  if (!driver()) return kUnhandledCudaError;
  *address = fake::device_or_null()->allocate(bytes, fake::MemoryKind::kDevice);
  return *address ? kSuccess : kUnhandledCudaError;
}
EXPORT(MemFree, void* address) {
  return driver() && fake::device_or_null()->release(address) == 0 ? kSuccess : kUnhandledCudaError;
}
EXPORT(CommRegister, const Communicator* communicator, void* buffer, std::size_t, void** handle) {
  *handle = buffer;
  return communicator ? kSuccess : kInvalidArgument;
}
EXPORT(CommDeregister, const Communicator* communicator, void*) { return communicator ? kSuccess : kInvalidArgument; }
EXPORT(CommWindowRegister, Communicator* communicator, void* buffer, std::size_t, void** window, int) {
  *window = buffer;
  return communicator ? kSuccess : kInvalidArgument;
}
EXPORT(CommWindowDeregister, Communicator* communicator, void*) { return communicator ? kSuccess : kInvalidArgument; }
EXPORT(DevCommCreate, Communicator* communicator, const void*, void*) {
  return communicator ? kSuccess : kInvalidArgument;
}
EXPORT(DevCommDestroy, Communicator* communicator, const void*) { return communicator ? kSuccess : kInvalidArgument; }
EXPORT(RedOpCreatePreMulSum, int* op, void*, int, int, Communicator* communicator) {
  static std::atomic<int> next{5};
  if (!communicator) return kInvalidArgument;
  *op = next++;
  return kSuccess;
}
EXPORT(RedOpDestroy, int, Communicator* communicator) { return communicator ? kSuccess : kInvalidArgument; }

EXPORT(AllReduce, const void*, void*, std::size_t count, int type, int op, Communicator* communicator, void* stream) {
  const std::uint64_t bytes = count * type_bytes(type);
  const Range range("ncclAllReduce", communicator, bytes, kOp, op);
  return enqueue(communicator, "AllReduce", kernel_with_op("AllReduce", op, type), bytes, type, 0, stream, true);
}
EXPORT(Reduce, const void*, void*, std::size_t count, int type, int op, int root, Communicator* communicator,
       void* stream) {
  const std::uint64_t bytes = count * type_bytes(type);
  const Range range("ncclReduce", communicator, bytes, kRoot, root);
  return enqueue(communicator, "Reduce", kernel_with_op("Reduce", op, type), bytes, type, root, stream, true);
}
EXPORT(ReduceScatter, const void*, void*, std::size_t count, int type, int op, Communicator* communicator,
       void* stream) {
  const std::uint64_t bytes = count * type_bytes(type);
  const Range range("ncclReduceScatter", communicator, bytes, kOp, op);
  return enqueue(communicator, "ReduceScatter", kernel_with_op("ReduceScatter", op, type), bytes, type, 0, stream,
                 true);
}
EXPORT(Broadcast, const void*, void*, std::size_t count, int type, int root, Communicator* communicator, void* stream) {
  const std::uint64_t bytes = count * type_bytes(type);
  const Range range("ncclBroadcast", communicator, bytes, kRoot, root);
  return enqueue(communicator, "Broadcast", "ncclDevKernel_Broadcast_RING_LL", bytes, type, root, stream, true);
}
// Through the exported name, as the real one: an interposed ncclBroadcast is entered a second time.
EXPORT(Bcast, void* buffer, std::size_t count, int type, int root, Communicator* communicator, void* stream) {
  return ncclBroadcast(buffer, buffer, count, type, root, communicator, stream);
}
EXPORT(AllGather, const void*, void*, std::size_t count, int type, Communicator* communicator, void* stream) {
  const std::uint64_t bytes = count * type_bytes(type);
  const Range range("ncclAllGather", communicator, bytes, "", 0);
  return enqueue(communicator, "AllGather", "ncclDevKernel_AllGather_RING_LL", bytes, type, 0, stream, true);
}
EXPORT(AlltoAll, const void*, void*, std::size_t count, int type, Communicator* communicator, void* stream) {
  const std::uint64_t bytes = count * type_bytes(type);
  const Range range("ncclAlltoAll", communicator, bytes, "", 0);
  return enqueue(communicator, "AlltoAll", "ncclDevKernel_SendRecv", bytes, type, 0, stream, true);
}
EXPORT(Gather, const void*, void*, std::size_t count, int type, int root, Communicator* communicator, void* stream) {
  const std::uint64_t bytes = count * type_bytes(type);
  const Range range("ncclGather", communicator, bytes, kRoot, root);
  return enqueue(communicator, "Gather", "ncclDevKernel_SendRecv", bytes, type, root, stream, true);
}
EXPORT(Scatter, const void*, void*, std::size_t count, int type, int root, Communicator* communicator, void* stream) {
  const std::uint64_t bytes = count * type_bytes(type);
  const Range range("ncclScatter", communicator, bytes, kRoot, root);
  return enqueue(communicator, "Scatter", "ncclDevKernel_SendRecv", bytes, type, root, stream, true);
}
EXPORT(Send, const void*, std::size_t count, int type, int peer, Communicator* communicator, void* stream) {
  const std::uint64_t bytes = count * type_bytes(type);
  const Range range("ncclSend", communicator, bytes, kPeer, peer);
  return enqueue(communicator, "Send", "ncclDevKernel_SendRecv", bytes, type, peer, stream, false);
}
EXPORT(Recv, void*, std::size_t count, int type, int peer, Communicator* communicator, void* stream) {
  const std::uint64_t bytes = count * type_bytes(type);
  const Range range("ncclRecv", communicator, bytes, kPeer, peer);
  return enqueue(communicator, "Recv", "ncclDevKernel_SendRecv", bytes, type, peer, stream, false);
}
EXPORT(GroupStart) {
  const Range range("ncclGroupStart");
  ++group_depth;
  return kSuccess;
}
EXPORT(GroupEnd) {
  const Range range("ncclGroupEnd");
  return end_group();
}
EXPORT(GroupSimulateEnd, SimulationInfo* info) {
  const Range range("ncclGroupSimulateEnd");
  if (group_depth == 0) return kInvalidUsage;
  if (--group_depth == 0) group.clear();
  if (info) info->estimated_time = 1.0f;
  return kSuccess;
}
