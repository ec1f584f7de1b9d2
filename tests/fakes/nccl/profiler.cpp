#include "fakes/nccl/profiler.h"

#include <dlfcn.h>
#include <strings.h>

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <map>
#include <mutex>
#include <string>

#include "fakes/environment.h"

namespace fake::nccl {
namespace {

// Source: profiler_v4.h, profiler_v5.h and profiler_v6.h, which differ in the width of the event type (one byte before
// v5) and in fields added at the ends.
enum : std::uint64_t {
  kGroup = 1,
  kColl = 2,
  kP2p = 4,
  kProxyOp = 8,
  kProxyStep = 16,
  kKernelCh = 64,
  kNetPlugin = 128,
  kGroupApi = 256,
  kCollApi = 512,
  kP2pApi = 1024,
  kKernelLaunch = 2048,
};
constexpr std::uint64_t kParts = kProxyOp | kProxyStep | kKernelCh | kNetPlugin;
enum State : int { kGroupStartApiStop = 23, kGroupEndApiStart = 24 };

struct CollV5 {
  std::uint64_t sequence;
  const char* function;
  const void* send;
  void* receive;
  std::size_t count;
  int root;
  const char* datatype;
  std::uint8_t channels, warps;
  const char *algorithm, *protocol;
  void* parent_group;
};
struct P2pV5 {
  const char* function;
  void* buffer;
  const char* datatype;
  std::size_t count;
  int peer;
  std::uint8_t channels;
  void* parent_group;
};
struct CollApiV5 {
  const char* function;
  std::size_t count;
  const char* datatype;
  int root;
  void* stream;
  bool captured;
};
struct DescriptionV5 {
  std::uint64_t type;
  void* parent;
  int rank;
  union {
    CollV5 coll;
    P2pV5 p2p;
    CollApiV5 coll_api;
    struct {
      bool captured;
      int depth;
    } group_api;
    char room[128];
  };
};
struct DescriptionV4 {
  std::uint8_t type;
  void* parent;
  int rank;
  alignas(8) char room[128];
};
static_assert(offsetof(DescriptionV4, room) == offsetof(DescriptionV5, room));

struct Plugin {
  const char* name;
  void* init;
  int (*start)(void* context, void** handle, void* description);
  int (*stop)(void* handle);
  int (*record_state)(void* handle, int state, void* arguments);
  int (*finalize)(void* context);
};

int known_interface() {
  static const int version = static_cast<int>(fake::number("FAKE_NCCL_PROFILER", 5));
  return version;
}

struct Loaded {
  void* library = nullptr;
  const Plugin* plugin = nullptr;
  int version = 0;
  int communicators = 0;
  bool failed = false;
};
std::mutex lock;
Loaded loaded;
int mask;  // ncclProfilerEventMask

/// Acts as tryOpenLib of plugin_open.cc: "STATIC_PLUGIN" or its first letters mean the process itself.
void* try_open(const std::string& name) {
  const bool is_static = strncasecmp(name.c_str(), "STATIC_PLUGIN", name.size()) == 0;
  return dlopen(is_static ? nullptr : name.c_str(), RTLD_NOW | RTLD_LOCAL);
}

/// Acts as setEnvFile of param.cc: variables already set keep their values.
void read_configuration() {
  const char* const path = std::getenv("NCCL_CONF_FILE");
  std::ifstream file(path != nullptr ? path : "");
  for (std::string line; std::getline(file, line);) {
    const std::size_t equals = line.find('=');
    if (line[0] == '#' || equals == std::string::npos) continue;
    setenv(line.substr(0, equals).c_str(), line.substr(equals + 1).c_str(), 0);
  }
}

void* open_library() {
  read_configuration();
  const char* const name = std::getenv("NCCL_PROFILER_PLUGIN");
  if (name == nullptr || *name == 0) {
    if (void* const library = try_open("libnccl-profiler.so")) return library;
    // Since 2.28 NCCL also looks in the network plugin.
    return known_interface() >= 5 ? try_open("libnccl-net.so") : nullptr;
  }
  if (strcasecmp(name, "none") == 0) return nullptr;
  if (void* const library = try_open(name)) return library;
  return std::strchr(name, '/') ? nullptr : try_open("libnccl-profiler-" + std::string(name) + ".so");
}

void load() {
  if (loaded.failed) return;
  if (loaded.plugin != nullptr) {
    ++loaded.communicators;
    return;
  }
  loaded.library = open_library();
  for (int version = known_interface(); loaded.library != nullptr && version >= 4; --version) {
    loaded.plugin =
        static_cast<const Plugin*>(dlsym(loaded.library, ("ncclProfiler_v" + std::to_string(version)).c_str()));
    loaded.version = version;
    if (loaded.plugin != nullptr) {
      loaded.communicators = 1;
      return;
    }
  }
  if (loaded.library != nullptr) dlclose(loaded.library);
  loaded = {};
  loaded.failed = true;
}

/// For a v4 plugin, NCCL drops the events of API calls, and a task's parent is the group (profiler_v4.cc of 2.30.7).
void start(void* context, void** handle, DescriptionV5& description) {
  if (loaded.version >= 5) {
    loaded.plugin->start(context, handle, &description);
    return;
  }
  if (description.type >= kGroupApi) return;
  DescriptionV4 old;
  std::memset(&old, 0xee, sizeof old);  // NCCL does not clear unset fields
  old.type = static_cast<std::uint8_t>(description.type);
  old.parent = description.type == kColl  ? description.coll.parent_group
               : description.type == kP2p ? description.p2p.parent_group
                                          : description.parent;
  old.rank = description.rank;
  std::memcpy(old.room, description.room, sizeof old.room);
  loaded.plugin->start(context, handle, &old);
}

/// As in ncclProfilerApiState, the handle of a collective's call is not reset when the call ends.
struct ApiState {
  void *group = nullptr, *collective = nullptr, *message = nullptr;
  bool begun = false;
};
thread_local ApiState api;

}  // namespace

int library_version() {
  switch (known_interface()) {
    case 3:
      return 22605;
    case 4:
      return 22707;
    case 6:
      return 23007;
    default:
      return 22809;
  }
}

void* begin_communicator(std::uint64_t hash, int ranks, int rank) {
  const std::lock_guard guard(lock);
  load();
  if (loaded.plugin == nullptr) return nullptr;
  void* context = nullptr;
  const char* const name = nullptr;
  using InitV4 = int(void**, int*, const char*, std::uint64_t, int, int, int, void*);
  using InitV5 = int(void**, std::uint64_t, int*, const char*, int, int, int, void*);
  if (loaded.version == 4) {
    reinterpret_cast<InitV4*>(loaded.plugin->init)(&context, &mask, name, hash, 1, ranks, rank, nullptr);
  } else {
    reinterpret_cast<InitV5*>(loaded.plugin->init)(&context, hash, &mask, name, 1, ranks, rank, nullptr);
  }
  return context;
}

void end_communicator(void* context) {
  const std::lock_guard guard(lock);
  if (loaded.plugin == nullptr) return;
  if (context != nullptr) loaded.plugin->finalize(context);
  if (--loaded.communicators > 0) return;
  dlclose(loaded.library);
  loaded = {};
}

void* begin_call(void* context, const char* function, bool is_collective, std::uint64_t count, void* stream) {
  if (loaded.plugin == nullptr || known_interface() < 5) return nullptr;
  if (!api.begun && (mask & (kGroupApi | kP2pApi | kCollApi | kKernelLaunch | kGroup | kColl | kP2p | kParts)) != 0) {
    DescriptionV5 group = {.type = kGroupApi, .parent = nullptr, .rank = 0, .group_api = {false, 1}};
    start(context, &api.group, group);
    api.begun = true;
    if (api.group != nullptr) loaded.plugin->record_state(api.group, kGroupStartApiStop, nullptr);
  }
  void*& handle = is_collective ? api.collective : api.message;
  if ((mask & (is_collective ? kCollApi | kColl | kParts : kP2pApi | kP2p | kParts)) == 0) return handle;
  DescriptionV5 call = {.type = is_collective ? kCollApi : kP2pApi,
                        .parent = api.group,
                        .rank = 0,
                        .coll_api = {function, count, "ncclFloat32", 0, stream, false}};
  start(context, &handle, call);
  void* const given = handle;
  if (handle != nullptr) loaded.plugin->stop(handle);
  if (!is_collective) handle = nullptr;
  return given;
}

void begin_group_end() {
  if (loaded.plugin != nullptr && api.group != nullptr) {
    loaded.plugin->record_state(api.group, kGroupEndApiStart, nullptr);
  }
}

void end_group_end() {
  if (loaded.plugin != nullptr && api.group != nullptr) loaded.plugin->stop(api.group);
  api.group = nullptr;
  api.begun = false;
}

void run_plan(void* context, int rank, std::vector<Task> tasks, std::map<std::string, std::uint64_t>& counts) {
  if (loaded.plugin == nullptr) return;
  // As ncclTaskCollSorter does: the largest collective first; sends and receives after all collectives.
  std::stable_sort(tasks.begin(), tasks.end(), [](const Task& a, const Task& b) {
    return a.is_collective != b.is_collective ? a.is_collective : a.is_collective && a.count > b.count;
  });
  void* group = nullptr;
  DescriptionV5 plan = {.type = kGroup, .parent = nullptr, .rank = 0, .room = {}};
  if ((mask & (kGroup | kColl | kP2p | kParts)) != 0) start(context, &group, plan);
  std::vector<void*> handles;
  for (const Task& task : tasks) {
    const std::uint64_t sequence = counts[task.function]++;
    if ((mask & ((task.is_collective ? kColl : kP2p) | kParts)) == 0) continue;
    if (known_interface() < 5 && group == nullptr) continue;
    DescriptionV5 description = {.type = task.is_collective ? kColl : kP2p,
                                 .parent = known_interface() < 5 ? group : task.call,
                                 .rank = rank,
                                 .room = {}};
    if (task.is_collective) {
      description.coll = {sequence,   task.function, nullptr, nullptr, task.count, task.root,
                          "ncclInt8", task.channels, 16,      "RING",  "LL",       group};
    } else {
      description.p2p = {task.function, nullptr, "ncclInt8", task.count, task.root, task.channels, group};
    }
    void* handle = nullptr;
    start(context, &handle, description);
    handles.push_back(handle);
  }
  for (void* const handle : handles) {
    if (handle != nullptr) loaded.plugin->stop(handle);
  }
  if (group != nullptr) loaded.plugin->stop(group);
}

}  // namespace fake::nccl
