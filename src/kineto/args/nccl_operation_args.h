// NCCL operations in the form that PyTorch and its readers use: the args of record_param_comms and of the kernel, the
// name of the annotation inside, and the bandwidth of a kernel.
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

/// Returns true for collectives, sends and receives that PyTorch has a name for.
bool is_nccl_operation(HookId hook);

/// Returns c10's name of an ncclDataType_t ("Float"); "" for an unknown type.
std::string_view nccl_type_name(std::uint8_t datatype);
/// Returns the name of an ncclRedOp_t ("sum", ..., "user"); "" for none.
std::string_view nccl_op_name(std::uint8_t op);
/// Returns the name of an ncclResult_t ("ncclInvalidUsage").
std::string_view nccl_result_name(std::int32_t result);

struct Bandwidth {
  double algorithm = 0, bus = 0;  // GB/s
};
/// Uses the formulas of nccl-tests (doc/PERFORMANCE.md there). Returns nothing if the size is unknown or the duration
/// 0. `ranks`: size of the communicator.
std::optional<Bandwidth> nccl_bandwidth(const Event& operation, std::int64_t ranks, std::int64_t duration_ns);

/// The args of one operation; they live until the next call, names as long as the object.
class NcclOperationArgs {
 public:
  /// `world_rank`: rank of the recorded process.
  NcclOperationArgs(const Definitions& definitions, std::int64_t world_rank)
      : definitions_(definitions), world_rank_(world_rank) {}

  /// Returns the args of the cpu_op record_param_comms.
  std::span<const Arg> of_operation(const Event& operation);
  /// Returns "nccl:all_reduce", "nccl:send 0->1".
  std::string_view annotation_name(const Event& operation);
  /// Returns the args of a kernel that does this operation and no other. The five args that readers take together
  /// (Collective name, In msg nelems, Out msg nelems, Group size, dtype) are all present or all absent.
  std::span<const Arg> of_kernel(const Event& operation, std::int64_t duration_ns);

  /// Returns the operation that a kernel does, by the kernel's name and the device of the communicator, or null if it
  /// is ambiguous: NCCL fuses operations into one kernel. `operations` were launched together (NcclArgs::operation).
  const Event* operation_of_kernel(std::span<const Event* const> operations, std::string_view kernel,
                                   std::int64_t device) const;

 private:
  void add(std::string_view key, decltype(Arg::value) value) { args_.add(key, value); }
  void add_common(const Event& operation);
  std::optional<std::int64_t> world_rank_of(const Communicator& comm, std::int64_t rank) const;

  const Definitions& definitions_;
  const std::int64_t world_rank_;
  ArgList<24> args_;
  std::unordered_map<std::uint64_t, std::string> names_;  // annotation names of sends and receives
};

}  // namespace profshim::kineto
