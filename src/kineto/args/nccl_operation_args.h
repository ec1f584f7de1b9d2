// Names and args of NCCL operations as in PyTorch.
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

/// Returns an ncclDataType_t as c10's "Float"; "" if unknown.
std::string_view nccl_type_name(std::uint8_t datatype);
/// Returns an ncclRedOp_t as "sum" or "user"; "" = none.
std::string_view nccl_op_name(std::uint8_t op);
/// Returns an ncclResult_t as "ncclInvalidUsage".
std::string_view nccl_result_name(std::int32_t result);

struct Bandwidth {
  double algorithm = 0, bus = 0;  // GB/s
};
/// Formulas: nccl-tests (doc/PERFORMANCE.md). Returns nothing if size or duration is unknown.
std::optional<Bandwidth> nccl_bandwidth(const Event& operation, std::int64_t ranks, std::int64_t duration_ns);

/// Args live until the next call, names as long as the object.
class NcclOperationArgs {
 public:
  NcclOperationArgs(const Definitions& definitions, std::int64_t world_rank)
      : definitions_(definitions), world_rank_(world_rank) {}

  std::span<const Arg> of_operation(const Event& operation);
  /// Returns "nccl:all_reduce" or, for example, "nccl:send 0->1".
  std::string_view annotation_name(const Event& operation);
  /// Returns args for a kernel that does only this operation.
  std::span<const Arg> of_kernel(const Event& operation, std::int64_t duration_ns);

  /// Returns the one of `operations` (launched together) that fits the kernel's device and name. Null if ambiguous:
  /// NCCL fuses operations.
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
