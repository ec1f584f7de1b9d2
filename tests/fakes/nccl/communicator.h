#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <ctime>
#include <map>
#include <string>

#include "fakes/nccl/profiler.h"

namespace fake::nccl {

enum Result : int {
  kSuccess = 0,
  kUnhandledCudaError = 1,
  kSystemError = 2,
  kInvalidArgument = 4,
  kInvalidUsage = 5,
  kInProgress = 7,
};
inline constexpr int kMaximumRanks = 8, kNoColor = -1;

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

struct Shared {
  std::atomic<std::uint32_t> arrived, aborted;
  struct Slot {
    std::atomic<std::uint64_t> operation;  // the collective's number, from 1
    std::atomic<std::uint64_t> start;
  } slots[64][kMaximumRanks];
  struct Split {
    std::atomic<std::uint32_t> written;
    int color[kMaximumRanks], key[kMaximumRanks];
  } splits[64];
};

struct Communicator {
  std::string name;
  Shared* shared = nullptr;
  std::uint64_t hash = 0;
  int ranks = 1, rank = 0, device = 0;
  bool blocking = true;
  std::atomic<int> launching{0};  // threads launching for a nonblocking communicator
  std::uint64_t collectives = 0;
  std::uint32_t splits = 0;    // also counts shrinks
  std::uint64_t magic = 0;     // first 8 bytes of its UniqueId
  std::uint32_t children = 0;  // splits and growths
  bool is_profiled = false;
  void* profiler = nullptr;
  std::map<std::string, std::uint64_t> tasks;  // number so far, by function
  Communicator() = default;
  Communicator(const Communicator&) = delete;
  Communicator& operator=(const Communicator&) = delete;
  ~Communicator() {
    if (is_profiled) end_communicator(profiler);
  }
};

inline void pause() {
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

/// With `wait`, a blocking communicator waits until all ranks have joined.
int create(Communicator** out, const std::string& name, int ranks, int rank, int device, const Config* config,
           bool wait);
/// Waits for the other ranks unless a group is open or `config` is nonblocking.
int create_by_id(Communicator** out, int ranks, const UniqueId& id, int rank, const Config* config);
/// Joins the ranks of `parent` that pass the same color, ordered by key.
int split(Communicator* parent, int color, int key, Communicator** out, const Config* config);
/// Returns the id of the next ncclCommGrow. New ranks get the id from the caller of ncclCommGetUniqueId; old ranks
/// compute it.
UniqueId growth_id(const Communicator& parent);
std::string name_of(const UniqueId& id);

}  // namespace fake::nccl
