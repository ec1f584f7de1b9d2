// Names and args of NCCL operations, as PyTorch writes them.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>

#include "arg_list.h"
#include "kineto/definitions.h"

namespace profshim::kineto {

inline constexpr std::string_view kParamComms = "record_param_comms";

/// True for collectives, sends and receives.
bool is_nccl_operation(HookId hook);

/// Returns a c10 name such as "Float".
std::string_view nccl_type_name(std::uint8_t datatype);
std::string_view nccl_op_name(std::uint8_t op);
std::string_view nccl_result_name(std::int32_t result);

struct Bandwidth {
  double algorithm = 0, bus = 0;  // GB/s
};
/// Uses the formulas of nccl-tests (doc/PERFORMANCE.md).
std::optional<Bandwidth> nccl_bandwidth(const Event& operation, std::int64_t ranks, std::int64_t duration_ns);

/// Returned args are valid until of_operation() or of_kernel() runs again, names until annotation_name() does.
class NcclOperationArgs {
 public:
  NcclOperationArgs(const Definitions& definitions, std::int64_t world_rank)
      : definitions_(definitions), world_rank_(world_rank) {}

  std::span<const Arg> of_operation(const Event& operation);
  /// Returns, for example, "nccl:send 0->1".
  std::string_view annotation_name(const Event& operation);
  /// Requires a kernel that does only `operation`.
  std::span<const Arg> of_kernel(const Event& operation, std::int64_t duration_ns);

  /// Returns the operation, of those launched together, that fits the kernel's device and name; if no name fits, the
  /// device's only operation. Returns null if several fit: NCCL fuses operations.
  const Event* operation_of_kernel(std::span<const Event* const> operations, std::string_view kernel,
                                   std::int64_t device) const;

 private:
  void add(std::string_view key, decltype(Arg::value) value) { args_.add(key, value); }
  void add_common(const Event& operation);
  std::optional<std::int64_t> world_rank_of(const Communicator& comm, std::int64_t rank) const;

  const Definitions& definitions_;
  const std::int64_t world_rank_;
  ArgList<24> args_;
  std::unordered_map<std::uint64_t, std::string> names_;
};

}  // namespace profshim::kineto
