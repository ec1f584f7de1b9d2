#include "torch_comms_args.h"

#include <charconv>
#include <cstdint>
#include <iterator>

#include "profshim/trace/schema.h"
#include "torch_args.h"

namespace profshim::kineto {
namespace {

namespace arg = schema::arg;

constexpr std::string_view kPrefix = "c10d::";

enum class Sizes : std::uint8_t { kSame, kGathered, kSpread, kBoth, kNone };

/// The order of inputs is that of torch/csrc/distributed/c10d/Ops.cpp, 1.13 to 2.x.
struct Family {
  std::string_view op, name;
  Sizes sizes;
  std::size_t tensors;  // index of the input tensor (kSpread: the output); with kBoth, input 0 is the output
  std::size_t peer;     // input index of the peer; 0 = none
  std::string_view peer_key;
  bool work_has_input;  // the backend's range has the input tensors, too
};
constexpr Family kFamilies[] = {
    {"allreduce_", "allreduce", Sizes::kSame, 0, 0, "", true},
    {"allreduce_coalesced_", "allreduce_coalesced", Sizes::kSame, 0, 0, "", false},
    {"broadcast_", "broadcast", Sizes::kSame, 0, 2, arg::kRootRank, true},
    {"reduce_", "reduce", Sizes::kSame, 0, 3, arg::kRootRank, true},
    {"allgather_", "all_gather", Sizes::kGathered, 1, 0, "", true},
    {"_allgather_base_", "_allgather_base", Sizes::kGathered, 1, 0, "", true},
    {"allgather_coalesced_", "allgather_coalesced", Sizes::kGathered, 1, 0, "", false},
    {"allgather_into_tensor_coalesced_", "allgather_into_tensor_coalesced", Sizes::kBoth, 1, 0, "", false},
    {"reduce_scatter_", "reduce_scatter", Sizes::kSpread, 0, 0, "", false},
    {"_reduce_scatter_base_", "_reduce_scatter_base", Sizes::kBoth, 1, 0, "", false},
    {"reduce_scatter_tensor_coalesced_", "reduce_scatter_tensor_coalesced", Sizes::kBoth, 1, 0, "", false},
    {"gather_", "gather", Sizes::kNone, 1, 3, arg::kRootRank, false},
    {"scatter_", "scatter", Sizes::kNone, 0, 3, arg::kRootRank, false},
    {"alltoall_", "all_to_all", Sizes::kBoth, 1, 0, "", false},
    {"alltoall_base_", "all_to_all", Sizes::kBoth, 1, 0, "", false},
    {"barrier", "barrier", Sizes::kNone, 0, 0, "", false},
    {"monitored_barrier_", "barrier", Sizes::kNone, 0, 0, "", false},
    {"send", "send", Sizes::kSame, 0, 2, arg::kDestinationRank, true},
    {"recv_", "recv", Sizes::kSame, 0, 2, arg::kSourceRank, true},
    {"recv_any_source_", "recv", Sizes::kSame, 0, 0, "", true},
};

const Family* family_of(std::string_view op) {
  if (!op.starts_with(kPrefix)) return nullptr;
  op.remove_prefix(kPrefix.size());
  for (const Family& family : kFamilies) {
    if (family.op == op) return &family;
  }
  return nullptr;
}

std::uint64_t elements_of(const Shapes& shapes) {
  std::uint64_t all = 0;
  for (const Shape& shape : shapes) all += elements(shape);
  return all;
}

std::string_view dtype(std::uint8_t element_type) {
  constexpr std::string_view kNames[] = {
      "Byte",        "Char",         "Short",         "Int",  "Long", "Half", "Float", "Double",
      "ComplexHalf", "ComplexFloat", "ComplexDouble", "Bool", "",     "",     "",      "BFloat16"};
  constexpr std::size_t kFloat8 = 23;
  constexpr std::string_view kShort[] = {"Float8_e5m2", "Float8_e4m3fn", "Float8_e5m2fnuz", "Float8_e4m3fnuz"};
  const std::size_t type = element_type - std::size_t{1};
  if (type < std::size(kNames)) return kNames[type];
  return type - kFloat8 < std::size(kShort) ? kShort[type - kFloat8] : std::string_view{};
}

}  // namespace

bool is_torch_collective(std::string_view op) { return family_of(op) != nullptr; }

void TorchCommsArgs::add_sizes(std::string_view op, const Event& event, const Event* work, std::int64_t ranks) {
  const Family& collective = *family_of(op);
  if (collective.sizes == Sizes::kNone) return;
  const bool own = event.torch.dims != 0;
  if (!own && (work == nullptr || !collective.work_has_input)) return;
  const Event& source = own ? event : *work;
  const auto inputs = read_shapes(view_.string(source.torch.dims, spool::kMaxText));
  const std::size_t at = own ? collective.tensors : 0;
  if (!inputs || inputs->size() <= at) return;
  const std::uint64_t elements = elements_of((*inputs)[at]);
  std::uint64_t in = elements, out = elements;
  if (collective.sizes == Sizes::kBoth) out = elements_of((*inputs)[0]);
  if ((collective.sizes == Sizes::kGathered || collective.sizes == Sizes::kSpread) && ranks < 1) return;
  if (collective.sizes == Sizes::kGathered) out *= static_cast<std::uint64_t>(ranks);
  if (collective.sizes == Sizes::kSpread) in *= static_cast<std::uint64_t>(ranks);
  add(arg::kInElements, in);
  add(arg::kOutElements, out);
}

std::span<const Arg> TorchCommsArgs::args_of(const Event& op, const Event* work) {
  args_.clear();
  const std::string_view name = view_.string(op.name);
  const Family& collective = *family_of(name);
  const Communicator* const group = definitions_.communicator(op.torch.group);
  add(arg::kCollective, collective.name);
  add_sizes(name, op, work, group != nullptr ? group->size : 0);
  if (const std::string_view type = dtype(op.element_type); !type.empty()) add(arg::kDtype, type);
  if (collective.peer != 0) {
    const auto values = read_texts(view_.string(op.torch.values, spool::kMaxText));
    std::int64_t peer = -1;
    if (values.size() > collective.peer) {
      const std::string_view text = values[collective.peer];
      std::from_chars(text.data(), text.data() + text.size(), peer);
    }
    if (peer >= 0) add(collective.peer_key, peer);
  }
  if (group == nullptr) return args_.all();
  add(arg::kGroupSize, group->size);
  if (!group->name.empty()) add(arg::kGroupName, group->name);
  if (!group->ranks.empty()) add(arg::kGroupRanks, std::string_view{group->ranks});
  if (group->own_rank >= 0) add(arg::kRank, group->own_rank);
  return args_.all();
}

}  // namespace profshim::kineto
