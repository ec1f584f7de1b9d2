// Args of CUDA API calls and device activity, in Kineto's order.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "kineto/args/arg_list.h"
#include "occupancy.h"
#include "profshim/spool/view.h"
#include "profshim/trace/events.h"

namespace profshim::kineto {

struct ActivityContext {
  std::int64_t duration_ns = 0;
  std::uint64_t external_id = 0;       // of the operator or NCCL operation
  const std::int64_t* step = nullptr;  // step number at launch
  std::span<const Arg> operation;
};

/// Returned args are valid until another of_...() call.
class DeviceArgs {
 public:
  explicit DeviceArgs(const spool::View& view);
  std::span<const Arg> of_call(const Event& call, std::uint64_t external_id);
  /// `second`: the second half (kContinuation) of `activity`, or null.
  std::span<const Arg> of_activity(const Event& activity, const Event* second, const ActivityContext& context);
  /// `device`: the device of the sync's context.
  std::span<const Arg> of_sync(const Event& event, std::uint16_t device);
  std::span<const Arg> of_memory(const Event& event);

  const std::vector<std::string>& properties() const { return properties_; }

 private:
  void add(std::string_view key, decltype(Arg::value) value) { args_.add(key, value); }
  void add_place(const GpuArgs& gpu);
  void add_kernel(const GpuArgs& gpu, const KernelArgs& kernel);
  void add_priority(const GpuArgs& gpu, const KernelArgs& kernel);
  void add_copied(const GpuArgs& gpu, std::int64_t duration_ns);
  void add_graph(const GpuArgs& gpu);
  RawJson list(std::array<char, 40>& room, std::uint64_t x, std::uint64_t y, std::uint64_t z);

  std::map<std::uint16_t, DeviceLimits> limits_;
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::int64_t> priorities_;  // key: context, stream
  std::vector<std::string> properties_;
  ArgList<48> args_;
  std::array<char, 40> grid_, block_, cluster_;
};

}  // namespace profshim::kineto
