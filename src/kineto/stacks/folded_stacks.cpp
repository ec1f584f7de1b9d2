#include "folded_stacks.h"

#include <algorithm>
#include <map>
#include <string>

namespace profshim::kineto {
namespace {

// Python's calls have no stack of their own.
bool is_slice(const Event& e) {
  return (e.flags & (kAsyncSlice | kStartEnd)) == 0 && e.end > e.begin && e.hook != HookId::kPythonCall;
}

/// Replaces ";" and blanks: they separate the parts of a line.
void add_frame(std::string& line, std::string_view frame) {
  for (const char c : frame) line += c == ' ' || c == ';' || c == '\t' || c == '\n' ? '_' : c;
}

}  // namespace

void FoldedStacks::close(std::vector<Open>& open) {
  if (open.back().stack != 0 && device_times_ == nullptr) own_time_[open.back().stack] += open.back().own;
  open.pop_back();
}

void FoldedStacks::add_device_time(const Event& call, const std::vector<Open>& open) {
  const auto time = device_times_->find(&call);
  if (time == device_times_->end()) return;
  const auto with_stack = std::find_if(open.rbegin(), open.rend(), [](const Open& slice) { return slice.stack != 0; });
  if (with_stack != open.rend()) own_time_[with_stack->stack] += time->second;
}

void FoldedStacks::add_thread(const std::vector<const Event*>& events) {
  std::vector<Open> open;
  for (const Event* const e : events) {
    if (!is_slice(*e)) continue;
    while (!open.empty() && open.back().end <= e->begin) close(open);
    if (!open.empty()) {
      const Ticks inside = std::min(e->end, open.back().end) - e->begin;
      open.back().own -= std::min(inside, open.back().own);
    }
    open.push_back({e->end, e->end - e->begin, stack_of(*e)});
    if (device_times_ != nullptr) add_device_time(*e, open);
  }
  while (!open.empty()) close(open);
}

bool FoldedStacks::write(CallStacks& stacks, ByteSink& sink) const {
  // Sorts by id: ids rise in the order of first recording.
  const std::map<StringId, Ticks> in_order(own_time_.begin(), own_time_.end());
  std::string line;
  for (const auto& [stack, ticks] : in_order) {
    const auto us = static_cast<long long>(static_cast<double>(ticks) / ticks_per_us_);
    const CallStacks::Frames& frames = stacks.frames(stack);
    if (us <= 0 || frames.empty()) continue;
    line.clear();
    for (auto frame = frames.rbegin(); frame != frames.rend(); ++frame) {
      if (!line.empty()) line += ';';
      add_frame(line, *frame);
    }
    line += ' ' + std::to_string(us) + '\n';
    if (!sink.write(line.data(), line.size())) return false;
  }
  return true;
}

}  // namespace profshim::kineto
