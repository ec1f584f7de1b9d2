// NCCL operations as PyTorch and its readers know them: the args of record_param_comms, of the annotation inside it and
// of the kernel, and the bandwidth that a kernel's duration comes to.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>

#include "event_args.h"

namespace profshim::kineto {

inline constexpr std::string_view kParamComms = "record_param_comms";

/// Does the function move data between ranks in a way that PyTorch has a name for: a collective, send or receive?
bool is_nccl_operation(HookId hook);

/// "Float", as c10 names it; "" when it is none of NCCL's types.
std::string_view nccl_type_name(std::uint8_t datatype);
/// "sum", ..., "user"; "" for none.
std::string_view nccl_op_name(std::uint8_t op);
/// "ncclInvalidUsage".
std::string_view nccl_result_name(std::int32_t result);

struct Bandwidth {
  double algorithm = 0, bus = 0;  // GB/s
};
/// By the formulas of nccl-tests (doc/PERFORMANCE.md there); nothing when the size is not known or a duration is 0.
/// `ranks`: of the communicator.
std::optional<Bandwidth> nccl_bandwidth(const Event& operation, std::int64_t ranks, std::int64_t duration_ns);

/// Room for the args of one operation; the views in it live until the next call, names as long as the object.
class NcclArgsText {
 public:
  /// `world_rank`: of the process that recorded.
  NcclArgsText(const Definitions& definitions, std::int64_t world_rank)
      : definitions_(definitions), world_rank_(world_rank) {}

  /// Of the cpu_op record_param_comms.
  std::span<const Arg> of_operation(const Event& operation);
  /// "nccl:all_reduce", "nccl:send 0->1"
  std::string_view annotation_name(const Event& operation);
  /// Of the kernel that does the operation alone. The five that readers take together (Collective name, In msg nelems,
  /// Out msg nelems, Group size, dtype) are all there or none is.
  std::span<const Arg> of_kernel(const Event& operation, std::int64_t duration_ns);

  /// Of `operations`, which were launched together (NcclArgs::operation), the one that a kernel does: by its name and
  /// the device of the communicator. Null when several may be meant: NCCL fuses operations into one kernel.
  const Event* operation_of_kernel(std::span<const Event* const> operations, std::string_view kernel,
                                   std::int64_t device) const;

 private:
  void add(std::string_view key, decltype(Arg::value) value) {
    if (used_ < args_.size()) args_[used_++] = {key, value};
  }
  void add_common(const Event& operation);
  std::optional<std::int64_t> world_rank_of(const Communicator& comm, std::int64_t rank) const;

  const Definitions& definitions_;
  const std::int64_t world_rank_;
  std::array<Arg, 24> args_;
  std::size_t used_ = 0;
  std::unordered_map<std::uint64_t, std::string> names_;  // of sends and receives
};

}  // namespace profshim::kineto
