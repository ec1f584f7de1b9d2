#include "torch_collectives.h"

#include <algorithm>

#include "kineto/args/nccl_operation_args.h"
#include "kineto/args/torch_comms_args.h"
#include "profshim/trace/schema.h"

namespace profshim::kineto {
namespace {

/// Returns "gloo" for a range "gloo:all_reduce".
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
    if (name == schema::name::kCommunication) at->second = Kind::kOwnComms;
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
  StringId mark = 0;
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

}  // namespace profshim::kineto
