#include "fakes/nccl/communicator.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <memory>
#include <utility>
#include <vector>

#include "fakes/libcuda/device.h"
#include "fakes/nccl/launch.h"
#include "inject/nccl/growth.h"

namespace fake::nccl {

namespace {

std::uint64_t hash_of(const std::string& text) {
  std::uint64_t hash = 1469598103934665603ull;
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 1099511628211ull;
  return hash;
}

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

int current_device() {
  fake::Device* const device = fake::device_or_null();
  return device ? device->current_device() : 0;
}

}  // namespace

int create(Communicator** out, const std::string& name, int ranks, int rank, int device, const Config* config,
           bool wait) {
  if (!out || ranks < 1 || ranks > kMaximumRanks || rank < 0 || rank >= ranks) return kInvalidArgument;
  if (!has_driver() || fake::device_or_null()->init() != 0) return kUnhandledCudaError;
  auto communicator = std::make_unique<Communicator>();
  communicator->name = name;
  communicator->hash = hash_of(name);
  communicator->ranks = ranks;
  communicator->rank = rank;
  communicator->device = device;
  communicator->blocking = !config || config->blocking != 0;
  if (const int result = join(*communicator, wait && communicator->blocking); result != kSuccess) return result;
  communicator->is_profiled = true;
  communicator->profiler = begin_communicator(communicator->hash, ranks, rank);
  const int result = communicator->blocking ? kSuccess : kInProgress;
  *out = communicator.release();
  return result;
}

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

int create_by_id(Communicator** out, int ranks, const UniqueId& id, int rank, const Config* config) {
  const int result = create(out, name_of(id), ranks, rank, current_device(), config, group_depth == 0);
  if (out && *out && (result == kSuccess || result == kInProgress)) {
    std::memcpy(&(*out)->magic, id.bytes, sizeof(*out)->magic);
  }
  return result;
}

int split(Communicator* parent, int color, int key, Communicator** out, const Config* config) {
  if (!parent || !out) return kInvalidArgument;
  const std::uint32_t number = parent->splits++;
  ++parent->children;
  auto& table = parent->shared->splits[number % 64];
  table.color[parent->rank] = color;
  table.key[parent->rank] = key;
  table.written.fetch_add(1);
  const auto everybody = static_cast<std::uint32_t>(parent->ranks);
  if (const int result = wait_for([&] { return table.written.load() >= everybody; }); result != kSuccess) return result;
  *out = nullptr;
  if (color == kNoColor) return kSuccess;
  std::vector<std::pair<int, int>> members;  // key, rank
  for (int i = 0; i < parent->ranks; ++i)
    if (table.color[i] == color) members.emplace_back(table.key[i], i);
  std::sort(members.begin(), members.end());
  const auto me = std::find_if(members.begin(), members.end(), [&](const auto& m) { return m.second == parent->rank; });
  return create(out, parent->name + "_" + std::to_string(number) + "_" + std::to_string(color),
                static_cast<int>(members.size()), static_cast<int>(me - members.begin()), parent->device, config, true);
}

}  // namespace fake::nccl
