#include "torch_comms.h"

#include <algorithm>
#include <charconv>

#include "nccl_args.h"
#include "torch_shapes.h"

namespace profshim::kineto {
namespace {

constexpr std::string_view kPrefix = "c10d::";

/// How the sizes of what goes in and out follow from the tensors that are looked at.
enum class Sizes : std::uint8_t { kSame, kGathered, kSpread, kBoth, kNone };

/// Source: torch/csrc/distributed/c10d/Ops.cpp, 1.13 to 2.x (the order of the inputs has not changed).
struct Family {
  std::string_view op, name;
  Sizes sizes;
  std::size_t tensors;  // the input that is looked at; with kBoth the other one is input 0
  std::size_t peer;     // the input that says root or peer; 0 = none
  std::string_view peer_key;
  bool work_has_input;  // the backend's own range has these very tensors
};
constexpr Family kFamilies[] = {
    {"allreduce_", "allreduce", Sizes::kSame, 0, 0, "", true},
    {"allreduce_coalesced_", "allreduce_coalesced", Sizes::kSame, 0, 0, "", false},
    {"broadcast_", "broadcast", Sizes::kSame, 0, 2, "Root Rank", true},
    {"reduce_", "reduce", Sizes::kSame, 0, 3, "Root Rank", true},
    {"allgather_", "all_gather", Sizes::kGathered, 1, 0, "", true},
    {"_allgather_base_", "_allgather_base", Sizes::kGathered, 1, 0, "", true},
    {"allgather_coalesced_", "allgather_coalesced", Sizes::kGathered, 1, 0, "", false},
    {"allgather_into_tensor_coalesced_", "allgather_into_tensor_coalesced", Sizes::kBoth, 1, 0, "", false},
    {"reduce_scatter_", "reduce_scatter", Sizes::kSpread, 0, 0, "", false},
    {"_reduce_scatter_base_", "_reduce_scatter_base", Sizes::kBoth, 1, 0, "", false},
    {"reduce_scatter_tensor_coalesced_", "reduce_scatter_tensor_coalesced", Sizes::kBoth, 1, 0, "", false},
    {"gather_", "gather", Sizes::kNone, 1, 3, "Root Rank", false},
    {"scatter_", "scatter", Sizes::kNone, 0, 3, "Root Rank", false},
    {"alltoall_", "all_to_all", Sizes::kBoth, 1, 0, "", false},
    {"alltoall_base_", "all_to_all", Sizes::kBoth, 1, 0, "", false},
    {"barrier", "barrier", Sizes::kNone, 0, 0, "", false},
    {"monitored_barrier_", "barrier", Sizes::kNone, 0, 0, "", false},
    {"send", "send", Sizes::kSame, 0, 2, "Dst Rank", true},
    {"recv_", "recv", Sizes::kSame, 0, 2, "Src Rank", true},
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

/// c10::ScalarType, as c10d writes it; "" for what no collective takes.
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

// ---- which range belongs to which collective
// -------------------------------------------------------------------------

namespace {

/// The part before ':' of what a backend calls its work ("gloo:all_reduce").
std::string_view backend_of(std::string_view range) {
  for (const std::string_view backend : {"gloo", "nccl", "mpi", "ucc", "xccl", "hccl"}) {
    if (range.size() > backend.size() && range.starts_with(backend) && range[backend.size()] == ':') return backend;
  }
  return {};
}

bool is_async(const Event& e) { return (e.flags & kStartEnd) != 0; }
std::int64_t began_on(const Event& range) { return static_cast<std::int64_t>(range.torch.record_function); }

}  // namespace

TorchCollectives::Kind TorchCollectives::kind_of(const Event& event) {
  if (is_nccl_operation(event.hook)) return Kind::kOwnComms;
  if (event.hook != HookId::kTorchOperator && event.hook != HookId::kTorchRange) return Kind::kOther;
  const std::uint64_t key = std::uint64_t{event.name} << 16 | static_cast<std::uint16_t>(event.hook);
  const auto [at, is_new] = kinds_.try_emplace(key, Kind::kOther);
  if (!is_new) return at->second;
  const std::string_view name = view_.string(event.name);
  if (event.hook == HookId::kTorchOperator) {
    if (is_torch_collective(name)) at->second = Kind::kCollective;
    if (name == "record_param_comms") at->second = Kind::kOwnComms;
  } else if (const std::string_view backend = backend_of(name); !backend.empty()) {
    at->second = Kind::kWork;
    backend_ = backend;
  }
  return at->second;
}

void TorchCollectives::add_thread(std::int64_t tid, std::span<const Event* const> events) {
  std::vector<std::size_t> open;
  for (const Event* const event : events) {
    while (!open.empty() && all_[open.back()].op->end <= event->begin) open.pop_back();
    switch (kind_of(*event)) {
      case Kind::kCollective:
        open.push_back(all_.size());
        all_.push_back({.op = event, .tid = tid});
        break;
      case Kind::kOwnComms:
        for (const std::size_t i : open) all_[i].has_own_comms = true;
        break;
      case Kind::kWork:
        if (is_async(*event)) {
          async_work_.push_back(event);
        } else if (!open.empty()) {
          all_[open.back()].work = event;
        }
        break;
      case Kind::kOther:
        break;
    }
  }
}

void TorchCollectives::finish() {
  std::sort(async_work_.begin(), async_work_.end(), [](const Event* a, const Event* b) {
    return began_on(*a) != began_on(*b) ? began_on(*a) < began_on(*b) : a->begin < b->begin;
  });
  for (Collective& c : all_) {
    const auto at = std::partition_point(async_work_.begin(), async_work_.end(), [&](const Event* e) {
      return began_on(*e) != c.tid ? began_on(*e) < c.tid : e->begin < c.op->begin;
    });
    const bool inside = at != async_work_.end() && began_on(**at) == c.tid && (*at)->begin < c.op->end;
    if (inside && c.work == nullptr) c.work = *at;
  }
  std::sort(all_.begin(), all_.end(), [](const Collective& a, const Collective& b) { return a.op < b.op; });
}

const TorchCollectives::Collective* TorchCollectives::find(const Event& op) const {
  const auto at = std::partition_point(all_.begin(), all_.end(), [&](const Collective& c) { return c.op < &op; });
  return at != all_.end() && at->op == &op ? &*at : nullptr;
}

void drop_doubled_comms(const spool::View& view, std::vector<const Event*>& events) {
  StringId mark = 0;  // the same text has the same id
  const auto is_mark = [&](const Event& e) {
    if (e.hook != HookId::kTorchOperator || e.name == 0) return false;
    if (mark == 0 && view.string(e.name) == kParamComms) mark = e.name;
    return e.name == mark;
  };
  std::vector<std::size_t> open, doubled;
  for (std::size_t i = 0; i < events.size(); ++i) {
    while (!open.empty() && events[open.back()]->end <= events[i]->begin) open.pop_back();
    if (is_mark(*events[i])) {
      open.push_back(i);
    } else if (!open.empty() && is_nccl_operation(events[i]->hook)) {
      if (doubled.empty() || doubled.back() != open.back()) doubled.push_back(open.back());
    }
  }
  for (const std::size_t i : doubled) events[i] = nullptr;
  if (!doubled.empty()) std::erase(events, nullptr);
}

// ---- what is written
// ---------------------------------------------------------------------------------------------------------

void TorchComms::add_sizes(std::string_view op, const Event& event, const Event* work, std::int64_t ranks) {
  const Family& collective = *family_of(op);
  if (collective.sizes == Sizes::kNone) return;
  const bool own = event.torch.dims != 0;
  if (!own && (work == nullptr || !collective.work_has_input)) return;
  const Event& source = own ? event : *work;
  const auto inputs = read_shapes(view_.string(source.torch.dims, spool::kMaxText));
  const std::size_t at = own ? collective.tensors : 0;
  if (!inputs || inputs->size() <= at) return;
  const std::uint64_t looked_at = elements_of((*inputs)[at]);
  std::uint64_t in = looked_at, out = looked_at;
  if (collective.sizes == Sizes::kBoth) out = elements_of((*inputs)[0]);
  if ((collective.sizes == Sizes::kGathered || collective.sizes == Sizes::kSpread) && ranks < 1) return;
  if (collective.sizes == Sizes::kGathered) out *= static_cast<std::uint64_t>(ranks);
  if (collective.sizes == Sizes::kSpread) in *= static_cast<std::uint64_t>(ranks);
  add("In msg nelems", in);
  add("Out msg nelems", out);
}

std::span<const Arg> TorchComms::of(const Event& op, const Event* work) {
  used_ = 0;
  const std::string_view name = view_.string(op.name);
  const Family& collective = *family_of(name);
  const Communicator* const group = definitions_.communicator(op.torch.group);
  add("Collective name", collective.name);
  add_sizes(name, op, work, group != nullptr ? group->size : 0);
  if (const std::string_view type = dtype(op.element_type); !type.empty()) add("dtype", type);
  if (collective.peer != 0) {
    const auto values = read_texts(view_.string(op.torch.values, spool::kMaxText));
    std::int64_t peer = -1;
    if (values.size() > collective.peer) {
      const std::string_view text = values[collective.peer];
      std::from_chars(text.data(), text.data() + text.size(), peer);
    }
    if (peer >= 0) add(collective.peer_key, peer);
  }
  if (group == nullptr) return {args_.data(), used_};
  add("Group size", group->size);
  if (!group->name.empty()) add("Process Group Name", group->name);
  if (!group->ranks.empty()) add("Process Group Ranks", std::string_view{group->ranks});
  if (group->own_rank >= 0) add("Rank", group->own_rank);
  return {args_.data(), used_};
}

}  // namespace profshim::kineto
