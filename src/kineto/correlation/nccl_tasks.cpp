#include "nccl_tasks.h"

#include <algorithm>

#include "profshim/json/writer.h"
#include "profshim/trace/schema.h"

namespace profshim::kineto {
namespace {

namespace arg = schema::arg;

bool by_call(const Event* a, const Event* b) { return a->nccl_task.call < b->nccl_task.call; }

template <class Member>
bool agree(std::span<const Event* const> tasks, Member member) {
  return std::all_of(tasks.begin(), tasks.end(),
                     [&](const Event* task) { return task->nccl_task.*member == tasks.front()->nccl_task.*member; });
}

}  // namespace

void NcclTasks::finish(const NcclOperations& operations) {
  if (tasks_.empty()) return;
  std::vector<Ticks> calls;
  for (const Event* const operation : operations.all()) calls.push_back(operation->begin);
  std::sort(calls.begin(), calls.end());
  for (const Event* const task : tasks_) {
    const auto [first, last] = std::equal_range(calls.begin(), calls.end(), task->nccl_task.call);
    joined_ += last - first == 1 ? 1 : 0;  // two threads may call at the same tick
    if (last - first > 1) ambiguous_.push_back(task->nccl_task.call);
  }
  std::sort(ambiguous_.begin(), ambiguous_.end());
  std::stable_sort(tasks_.begin(), tasks_.end(), by_call);
}

std::span<const Event* const> NcclTasks::tasks_of(const Event& call) const {
  if (std::binary_search(ambiguous_.begin(), ambiguous_.end(), call.begin)) return {};
  Event wanted;
  wanted.nccl_task = {.call = call.begin};
  const auto [first, last] = std::equal_range(tasks_.begin(), tasks_.end(), &wanted, by_call);
  return {first, last};
}

void NcclTasks::add_args(const Event& call, std::vector<Arg>& args) const {
  const auto tasks = tasks_of(call);
  if (tasks.empty()) return;
  const NcclTaskArgs& task = tasks.front()->nccl_task;
  const auto add_text = [&](std::string_view key, StringId NcclTaskArgs::*member) {
    const std::string_view text = view_.string(task.*member);
    if (!text.empty() && agree(tasks, member)) args.push_back({key, text});
  };
  add_text(arg::kNcclFunction, &NcclTaskArgs::function);
  add_text(arg::kNcclAlgorithm, &NcclTaskArgs::algorithm);
  add_text(arg::kNcclProtocol, &NcclTaskArgs::protocol);
  if (agree(tasks, &NcclTaskArgs::channels)) args.push_back({arg::kNcclChannels, std::uint64_t{task.channels}});
  if (task.is_collective == 0 || !agree(tasks, &NcclTaskArgs::is_collective)) return;
  if (agree(tasks, &NcclTaskArgs::warps)) args.push_back({arg::kNcclWarps, std::uint64_t{task.warps}});
  if (agree(tasks, &NcclTaskArgs::sequence)) args.push_back({arg::kNcclSequence, task.sequence});
}

std::string NcclTasks::summary() const {
  namespace counts = schema::ours::nccl_tasks;
  JsonWriter json;
  json.open_object().member(counts::kSeen, tasks_.size()).member(counts::kJoined, joined_);
  return json.close_object().text();
}

}  // namespace profshim::kineto
