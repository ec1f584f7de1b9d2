#include "nccl_operation_args.h"

#include <charconv>

#include "event_args.h"
#include "profshim/base/text/number_text.h"
#include "profshim/hooks/ids.h"
#include "profshim/trace/bus_factor.h"
#include "profshim/trace/schema.h"

namespace profshim::kineto {
namespace {

namespace arg = schema::arg;

enum class Shape : std::uint8_t {
  kSame,
  kGathered,  // out = in x ranks
  kSpread,    // in = out x ranks
  kEach,      // in = out = count x ranks
};

struct Family {
  HookId hook, with_config;
  std::string_view collective, annotation, in_kernel;
  Shape shape;
  bool times_ranks;  // bandwidth uses count x type size x ranks
  int others;        // parameter of bus_factor()
};

constexpr Family kFamilies[] = {
    {hooks::ncclAllReduce, hooks::ncclAllReduceConfig, "allreduce", "nccl:all_reduce", "AllReduce", Shape::kSame, false,
     2},
    {hooks::ncclAllGather, hooks::ncclAllGatherConfig, "_allgather_base", "nccl:_all_gather_base", "AllGather",
     Shape::kGathered, true, 1},
    {hooks::ncclReduceScatter, hooks::ncclReduceScatterConfig, "_reduce_scatter_base", "nccl:_reduce_scatter_base",
     "ReduceScatter", Shape::kSpread, true, 1},
    {hooks::ncclBroadcast, hooks::ncclBroadcastConfig, "broadcast", "nccl:broadcast", "Broadcast", Shape::kSame, false,
     0},
    {hooks::ncclBcast, HookId::kNone, "broadcast", "nccl:broadcast", "Broadcast", Shape::kSame, false, 0},
    {hooks::ncclReduce, hooks::ncclReduceConfig, "reduce", "nccl:reduce", "_Reduce_", Shape::kSame, false, 0},
    {hooks::ncclAlltoAll, hooks::ncclAlltoAllConfig, "all_to_all", "nccl:all_to_all", "SendRecv", Shape::kEach, true,
     1},
    {hooks::ncclGather, hooks::ncclGatherConfig, "gather", "nccl:gather", "SendRecv", Shape::kGathered, true, 1},
    {hooks::ncclScatter, hooks::ncclScatterConfig, "scatter", "nccl:scatter", "SendRecv", Shape::kSpread, true, 1},
    {hooks::ncclSend, HookId::kNone, "send", "nccl:send", "SendRecv", Shape::kSame, false, 0},
    {hooks::ncclRecv, HookId::kNone, "recv", "nccl:recv", "SendRecv", Shape::kSame, false, 0},
};

const Family* family_of(HookId hook) {
  if (hook_layer(hook) != Layer::kNccl) return nullptr;
  for (const Family& family : kFamilies) {
    if (family.hook == hook || family.with_config == hook) return &family;
  }
  return nullptr;
}

bool is_message(HookId hook) { return hook == hooks::ncclSend || hook == hooks::ncclRecv; }

constexpr std::uint8_t kTypeBytes[] = {1, 1, 4, 4, 8, 8, 2, 4, 8, 2, 1, 1};

std::uint64_t times(std::uint64_t count, std::int64_t ranks) { return count * static_cast<std::uint64_t>(ranks); }

}  // namespace

bool is_nccl_operation(HookId hook) { return family_of(hook) != nullptr; }

std::string_view nccl_type_name(std::uint8_t datatype) {
  constexpr std::string_view kNames[] = {"Char", "Byte",  "Int",    "UInt32",   "Long",          "UInt64",
                                         "Half", "Float", "Double", "BFloat16", "Float8_e4m3fn", "Float8_e5m2"};
  static_assert(std::size(kNames) == std::size(kTypeBytes));
  return datatype < std::size(kNames) ? kNames[datatype] : std::string_view{};
}

std::string_view nccl_op_name(std::uint8_t op) {
  constexpr std::string_view kNames[] = {"sum", "prod", "max", "min", "avg"};
  if (op == kUserOp) return "user";
  return op < std::size(kNames) ? kNames[op] : std::string_view{};
}

std::string_view nccl_result_name(std::int32_t result) {
  constexpr std::string_view kNames[] = {"ncclSuccess",       "ncclUnhandledCudaError", "ncclSystemError",
                                         "ncclInternalError", "ncclInvalidArgument",    "ncclInvalidUsage",
                                         "ncclRemoteError",   "ncclInProgress",         "ncclTimeout"};
  return result >= 0 && static_cast<std::size_t>(result) < std::size(kNames) ? kNames[result] : "unknown";
}

std::optional<Bandwidth> nccl_bandwidth(const Event& operation, std::int64_t ranks, std::int64_t duration_ns) {
  const Family* const family = family_of(operation.hook);
  const NcclArgs& nccl = operation.nccl;
  if (family == nullptr || ranks < 1 || duration_ns <= 0 || nccl.count == 0 || nccl.datatype >= std::size(kTypeBytes)) {
    return std::nullopt;
  }
  double bytes = static_cast<double>(nccl.count) * kTypeBytes[nccl.datatype];
  if (family->times_ranks) bytes *= static_cast<double>(ranks);
  Bandwidth out;
  out.algorithm = bytes / static_cast<double>(duration_ns);  // bytes/ns = GB/s
  out.bus = out.algorithm * bus_factor(family->others, ranks);
  return out;
}

std::optional<std::int64_t> NcclOperationArgs::world_rank_of(const Communicator& comm, std::int64_t rank) const {
  if (rank == comm.own_rank && world_rank_ >= 0) return world_rank_;
  std::string_view rest = comm.all_ranks;
  if (rank < 0 || rest.size() < 3) return std::nullopt;
  rest.remove_prefix(1);
  for (std::int64_t i = 0; i < rank; ++i) {
    const std::size_t comma = rest.find(',');
    if (comma == std::string_view::npos) return std::nullopt;
    rest.remove_prefix(comma + 1);
  }
  while (rest.starts_with(' ')) rest.remove_prefix(1);
  std::int64_t value = 0;
  return std::from_chars(rest.data(), rest.data() + rest.size(), value).ec == std::errc{} ? std::optional(value)
                                                                                          : std::nullopt;
}

void NcclOperationArgs::add_common(const Event& operation) {
  args_.clear();
  const Family& family = *family_of(operation.hook);
  const NcclArgs& nccl = operation.nccl;
  const Communicator* const comm = definitions_.communicator(nccl.comm);
  const std::int64_t ranks = comm != nullptr ? comm->size : 0;
  const std::string_view type = nccl_type_name(nccl.datatype);
  // Trace readers need all five args or none.
  if (ranks > 0 && !type.empty()) {
    add(arg::kCollective, family.collective);
    const bool wide_in = family.shape == Shape::kSpread || family.shape == Shape::kEach;
    const bool wide_out = family.shape == Shape::kGathered || family.shape == Shape::kEach;
    add(arg::kInElements, wide_in ? times(nccl.count, ranks) : nccl.count);
    add(arg::kOutElements, wide_out ? times(nccl.count, ranks) : nccl.count);
    add(arg::kGroupSize, ranks);
    add(arg::kDtype, type);
  }
  if (comm == nullptr) return;
  add(arg::kGroupName, std::string_view{comm->identity});
  add(arg::kGroupDescription, comm->name);
  if (!comm->ranks.empty()) add(arg::kGroupRanks, std::string_view{comm->ranks});
  if (is_message(operation.hook)) {
    const auto own = world_rank_of(*comm, comm->own_rank), other = world_rank_of(*comm, nccl.peer);
    const bool sends = operation.hook == hooks::ncclSend;
    if (const auto source = sends ? own : other) add(arg::kSourceRank, *source);
    if (const auto destination = sends ? other : own) add(arg::kDestinationRank, *destination);
  }
  if (nccl.sequence != 0) add(arg::kSequence, std::uint64_t{nccl.sequence});
  if (std::uint64_t id = 0; parse_number(comm->identity, id, 16) && id != 0) add(arg::kCommsId, id);
}

std::span<const Arg> NcclOperationArgs::of_operation(const Event& operation) {
  add_common(operation);
  const Communicator* const comm = definitions_.communicator(operation.nccl.comm);
  // As in PyTorch, the "Rank" of a send or receive is the peer.
  const std::int64_t rank = is_message(operation.hook) ? operation.nccl.peer : comm != nullptr ? comm->own_rank : -1;
  if (rank >= 0) add(arg::kRank, rank);
  if (operation.nccl.peer >= 0 && !is_message(operation.hook)) add(arg::kRootRank, std::int64_t{operation.nccl.peer});
  if ((operation.flags & kUnfinished) != 0) add(arg::kFinished, false);
  return args_.all();
}

std::string_view NcclOperationArgs::annotation_name(const Event& operation) {
  const std::string_view name = family_of(operation.hook)->annotation;
  const Communicator* const comm = definitions_.communicator(operation.nccl.comm);
  if (!is_message(operation.hook) || comm == nullptr || comm->own_rank < 0 || operation.nccl.peer < 0) return name;
  const std::uint64_t key = static_cast<std::uint64_t>(operation.hook) << 32 | operation.nccl.comm;
  std::string& text = names_[key ^ static_cast<std::uint64_t>(operation.nccl.peer) * 0x9e3779b97f4a7c15ull];
  const char* const arrow = operation.hook == hooks::ncclSend ? "->" : "<-";
  text = std::string(name) + " " + std::to_string(comm->own_rank) + arrow + std::to_string(operation.nccl.peer);
  return text;
}

std::span<const Arg> NcclOperationArgs::of_kernel(const Event& operation, std::int64_t duration_ns) {
  add_common(operation);
  const Communicator* const comm = definitions_.communicator(operation.nccl.comm);
  if (const auto rate = nccl_bandwidth(operation, comm != nullptr ? comm->size : 0, duration_ns)) {
    add(arg::kAlgorithmBandwidth, rate->algorithm);
    add(arg::kBusBandwidth, rate->bus);
  }
  return args_.all();
}

const Event* NcclOperationArgs::operation_of_kernel(std::span<const Event* const> operations, std::string_view kernel,
                                                    std::int64_t device) const {
  const Event* by_name = nullptr;
  int named = 0, here = 0;
  const Event* only_here = nullptr;
  for (const Event* const operation : operations) {
    const Family* const family = family_of(operation->hook);
    if (family == nullptr) continue;
    const Communicator* const comm = definitions_.communicator(operation->nccl.comm);
    if (comm != nullptr && comm->device >= 0 && device >= 0 && comm->device != device) continue;
    ++here;
    only_here = operation;
    if (kernel.find(family->in_kernel) == std::string_view::npos) continue;
    ++named;
    by_name = operation;
  }
  if (named == 1) return by_name;
  return named == 0 && here == 1 ? only_here : nullptr;
}

void EventArgs::add_nccl(const Event& event) {
  const NcclArgs& nccl = event.nccl;
  add(arg::kFunction, hook_name(event.hook));
  if (nccl.bytes != 0) add(arg::kBytes, nccl.bytes);
  if (nccl.count != 0) add(event.hook == hooks::ncclGroupEnd ? arg::kOperations : arg::kCount, nccl.count);
  if (const std::string_view type = nccl_type_name(nccl.datatype); !type.empty()) add(arg::kDtype, type);
  if (const std::string_view op = nccl_op_name(nccl.op); !op.empty()) add(arg::kOp, op);
  if (nccl.peer != kNone32) add(peer_key(event.hook), std::int64_t{nccl.peer});
  if (const Communicator* c = definitions_.communicator(nccl.comm)) {
    add(arg::kComm, c->name);
    add(arg::kCommId, std::string_view{c->identity});
    if (c->size > 0) add(arg::kGroupSize, c->size);
    if (c->own_rank >= 0) add(arg::kRank, c->own_rank);
  }
  if (nccl.sequence != 0) add(arg::kSequence, std::uint64_t{nccl.sequence});
  if (nccl.group != 0) add(arg::kInGroup, true);
  if (nccl.from_nvtx != 0) add(arg::kSeenBy, std::string_view{"NVTX"});
  if ((event.flags & kFailed) != 0) {
    add(arg::kFailed, true);
    add(arg::kResult, nccl_result_name(nccl.result));
  }
}

}  // namespace profshim::kineto
