// The args of CUDA's API calls and of device work, in Kineto's order and under its names.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "occupancy.h"
#include "profshim/spool/view.h"
#include "profshim/trace.h"

namespace profshim::kineto {

/// Step, operator and collective of a kernel, copy or memset.
struct WorkContext {
  std::int64_t duration_ns = 0;
  std::uint64_t external_id = 0;       // of the operation that made it; 0 = none in this trace
  const std::int64_t* step = nullptr;  // number of the step in which it was launched; null = in none
  std::span<const Arg> operation;      // what the operation adds to its kernels
};

/// Room for the args of one event; the views in it live until the next call.
class DeviceArgs {
 public:
  explicit DeviceArgs(const spool::View& view);
  /// kCudaApi.
  std::span<const Arg> of_call(const Event& call, std::uint64_t external_id);
  /// kKernel, kMemcpy, kMemcpyPeer, kMemset, kGraphRun; `second`: the kContinuation of `work`, or null.
  std::span<const Arg> of_work(const Event& work, const Event* second, const WorkContext& context);
  /// kCudaSync.
  /// On the device that its context belongs to.
  std::span<const Arg> of_sync(const Event& sync, std::uint16_t device);
  /// kCudaMemory.
  std::span<const Arg> of_memory(const Event& memory);

  /// Elements of deviceProperties, in the order of their ids.
  const std::vector<std::string>& properties() const { return properties_; }

 private:
  void add(std::string_view key, decltype(Arg::value) value) {
    if (used_ < args_.size()) args_[used_++] = {key, value};
  }
  void start() { used_ = 0; }
  void add_place(const GpuArgs& gpu);
  void add_kernel(const GpuArgs& gpu, const KernelArgs& kernel);
  void add_priority(const GpuArgs& gpu, const KernelArgs& kernel);
  void add_copied(const GpuArgs& gpu, std::int64_t duration_ns);
  void add_graph(const GpuArgs& gpu);
  RawJson list(std::array<char, 40>& room, std::uint64_t x, std::uint64_t y, std::uint64_t z);

  std::map<std::uint16_t, DeviceLimits> limits_;                                // by device
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::int64_t> priorities_;  // by context and stream
  std::vector<std::string> properties_;
  std::array<Arg, 48> args_;
  std::size_t used_ = 0;
  std::array<char, 40> grid_, block_, cluster_;
};

}  // namespace profshim::kineto
