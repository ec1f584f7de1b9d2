// The args of a collective of torch.distributed, with any backend, under the names that PyTorch gives it for NCCL
// ("record_param_comms"; torch/csrc/distributed/c10d/ParamCommsUtils.hpp).
#pragma once

#include <span>
#include <string_view>

#include "arg_list.h"
#include "kineto/definitions.h"
#include "profshim/spool/view.h"

namespace profshim::kineto {

/// Returns true for "c10d::allreduce_" and the other collectives, sends and receives.
bool is_torch_collective(std::string_view op);

/// The args of one event; they live until the next call.
class TorchCommsArgs {
 public:
  TorchCommsArgs(const Definitions& definitions, const spool::View& view) : definitions_(definitions), view_(view) {}
  /// `op` must satisfy is_torch_collective(). `work` is the range in which the backend does it, or null.
  std::span<const Arg> of(const Event& op, const Event* work);

 private:
  void add(std::string_view key, decltype(Arg::value) value) { args_.add(key, value); }
  void add_sizes(std::string_view op, const Event& event, const Event* work, std::int64_t ranks);

  const Definitions& definitions_;
  const spool::View& view_;
  ArgList<16> args_;
};

}  // namespace profshim::kineto
