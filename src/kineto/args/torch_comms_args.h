// Names args as record_param_comms does (torch/csrc/distributed/c10d/ParamCommsUtils.hpp).
#pragma once

#include <span>
#include <string_view>

#include "arg_list.h"
#include "kineto/definitions.h"
#include "profshim/spool/view.h"

namespace profshim::kineto {

/// True for collectives, sends and receives.
bool is_torch_collective(std::string_view op);

/// Returned args are valid until of() is called again.
class TorchCommsArgs {
 public:
  TorchCommsArgs(const Definitions& definitions, const spool::View& view) : definitions_(definitions), view_(view) {}
  /// Requires is_torch_collective(name of `op`). `work`: the backend's range ("gloo:all_reduce"), or null.
  std::span<const Arg> args_of(const Event& op, const Event* work);

 private:
  void add(std::string_view key, decltype(Arg::value) value) { args_.add(key, value); }
  void add_sizes(std::string_view op, const Event& event, const Event* work, std::int64_t ranks);

  const Definitions& definitions_;
  const spool::View& view_;
  ArgList<16> args_;
};

}  // namespace profshim::kineto
