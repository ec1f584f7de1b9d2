#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <unordered_map>

#include "arg_list.h"
#include "kineto/definitions.h"
#include "kineto/window_steps.h"
#include "profshim/perf_counters.h"
#include "profshim/spool/view.h"
#include "profshim/trace/schema.h"

namespace profshim::kineto {

class CallStacks;

/// Returned args are valid until of() is called again.
class EventArgs {
 public:
  /// `detail`: spool::DetailBits of the window.
  EventArgs(const Definitions& definitions, const spool::View& view, double ticks_per_ns, CallStacks& stacks,
            std::int64_t detail)
      : definitions_(definitions), view_(view), ticks_per_ns_(ticks_per_ns), detail_(detail), stacks_(stacks) {}
  /// `second`: the second half (kContinuation) of `event`, or null.
  std::span<const Arg> args_of(const Event& event, const Event* second);
  /// Name of a kPythonCall.
  std::string python_name(const Event& event) const;

 private:
  void add(std::string_view key, decltype(Arg::value) value) { args_.add(key, value); }
  void add_mpi(const Event& event, const Event* second);
  void add_receive(const MpiArgs& receive);
  void add_communicator(const Communicator& c);
  void add_polls(const Event& event);
  void add_nccl(const Event& event);
  void add_torch(const TorchArgs& torch);
  void add_rpc(const Event& event);
  void add_flops(const Event& event);
  void add_python(const Event& event);
  void add_json(std::string_view key, StringId id);
  void add_nvtx(const NvtxArgs& nvtx);
  void add_nvtx_payload(const NvtxArgs& nvtx);
  void add_cuda_call(const Event& event);
  void add_extended(StringId id);
  void add_stack(StringId stack);
  bool shows(spool::DetailBits bit) const { return (detail_ & bit) != 0; }
  bool is_json(StringId id, std::string_view text);
  const Definitions& definitions_;
  const spool::View& view_;
  double ticks_per_ns_;
  std::int64_t detail_;
  CallStacks& stacks_;
  std::string stack_, native_stack_, modules_;
  ArgList<24> args_;
  std::map<std::tuple<StringId, StringId, StringId>, std::optional<std::uint64_t>> flops_;  // key: name, dims, values
  std::unordered_map<StringId, bool> is_json_;
  char color_[12] = {}, stream_[20] = {};
};

std::uint64_t polls_of(const PollArgs& polls);

/// Returns "root", "dest", "source", "peer" or "target".
std::string_view peer_key(HookId hook);
std::string_view mpi_peer_key(const Event& event);

// Arguments of steps, and the counts of counters.perf in steps and phases.

inline constexpr std::size_t kCounterArgs = kPerfCounters + 1;
/// Calls `add` with the key and value of each argument.
void for_each_counter(const PerfReading& counted,
                      const std::function<void(std::string_view, decltype(Arg::value))>& add);

using StepArgList = ArgList<kCounterArgs + 3>;
void add_step_args(const WindowSteps& steps, std::size_t step, StepArgList& args);

}  // namespace profshim::kineto
