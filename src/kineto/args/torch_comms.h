// What is known of a collective of torch.distributed, whatever its backend, under the names that PyTorch gives it for
// NCCL ("record_param_comms"; torch/csrc/distributed/c10d/ParamCommsUtils.hpp).
#pragma once

#include <array>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "event_args.h"

namespace profshim::kineto {

/// "c10d::allreduce_" and its kin.
bool is_torch_collective(std::string_view op);

/// PyTorch marks what it does with NCCL as record_param_comms, whose args it keeps to itself; where the calls of NCCL
/// were seen inside, they are shown under that name with theirs. Takes PyTorch's own mark away there. One thread's
/// events, in order.
void drop_doubled_comms(const spool::View& view, std::vector<const Event*>& events);

/// The collectives of a window, each with the range in which its backend does the work.
class TorchCollectives {
 public:
  explicit TorchCollectives(const spool::View& view) : view_(view) {}
  /// The events of one thread in order (begin, longest first).
  void add_thread(std::int64_t tid, std::span<const Event* const> events);
  /// After the last thread.
  void finish();

  struct Collective {
    const Event* op;
    const Event* work = nullptr;  // null = not seen
    std::int64_t tid = 0;
    bool has_own_comms = false;  // NCCL was seen in it, or PyTorch's own record_param_comms
  };
  /// Null for what is none.
  const Collective* find(const Event& op) const;
  /// "gloo", by the names of the ranges; "" = none was seen.
  std::string_view backend() const { return backend_; }

 private:
  enum class Kind : std::uint8_t { kOther, kCollective, kOwnComms, kWork };
  Kind kind_of(const Event& event);

  const spool::View& view_;
  std::unordered_map<std::uint64_t, Kind> kinds_;  // by hook and name
  std::vector<Collective> all_;                    // by op, after finish()
  std::vector<const Event*> async_work_;           // ended on another thread; by the thread and the time it began
  std::string_view backend_;
};

/// Room for the args of one event; the views in it live until the next call.
class TorchComms {
 public:
  TorchComms(const Definitions& definitions, const spool::View& view) : definitions_(definitions), view_(view) {}
  /// `op`: an operator for which is_torch_collective() holds; `work`: the range in which its backend does it, or null.
  std::span<const Arg> of(const Event& op, const Event* work);

 private:
  void add(std::string_view key, decltype(Arg::value) value) {
    if (used_ < args_.size()) args_[used_++] = {key, value};
  }
  void add_sizes(std::string_view op, const Event& event, const Event* work, std::int64_t ranks);

  const Definitions& definitions_;
  const spool::View& view_;
  std::string rank_;
  std::array<Arg, 16> args_;
  std::size_t used_ = 0;
};

}  // namespace profshim::kineto
