#include "python_calls.h"

#include <algorithm>
#include <unordered_map>

#include "profshim/base/threads/shared_words.h"
#include "profshim/python/calls.h"

namespace profshim::kineto {

using python_calls::CallSite;
using python_calls::Mark;
using python_calls::StackPart;

void PythonCalls::add(std::int64_t tid, const Event& event) { threads_[tid].recorded.push_back(load_words(event)); }

/// The open calls of one thread.
class PythonCalls::Stack {
 public:
  Stack(const spool::View& view, std::deque<Event>& calls, std::vector<const Event*>& of_thread)
      : view_(view), calls_(calls), of_thread_(of_thread) {}

  bool empty() const { return open_.empty(); }

  void begin(std::uint32_t site, Ticks at) {
    const std::uint32_t function = site == python_calls::kLost ? 0 : CallSite::parse(view_.string(site)).function;
    Event& call = calls_.emplace_back();
    call.begin = at;
    call.hook = HookId::kPythonCall;
    call.name = site == python_calls::kLost ? 0 : site;
    call.python_call.id = calls_.size();  // number() changes both
    call.python_call.parent = open_.empty() ? 0 : open_.back().call->python_call.id;
    of_thread_.push_back(&call);
    open_.push_back({&call, function});
  }

  /// Returns the number of calls that ended without an end of their own. A stack that is not the thread's (greenlets)
  /// may leave them.
  std::uint64_t end(std::uint32_t function, Ticks at) {
    const auto is_it = [function](const Open& open) { return open.function == function || open.function == 0; };
    const auto found = std::find_if(open_.rbegin(), open_.rend(), is_it);
    if (found == open_.rend()) return 0;  // began before the window
    const auto inner = static_cast<std::size_t>(found - open_.rbegin());
    for (std::size_t i = 0; i <= inner; ++i) pop(at, i < inner);
    return inner;
  }

  std::uint64_t end_all(Ticks at) {
    const std::uint64_t count = open_.size();
    while (!open_.empty()) pop(at, true);
    return count;
  }

  /// `others`: see PythonCalls::finish().
  void end_with_window(Ticks end, const std::vector<const Event*>& others) {
    std::vector<const Event*> crossing;
    for (const Event* e : others) {
      const bool is_slice = (e->flags & (kAsyncSlice | kStartEnd)) == 0;
      if (is_slice && e->begin < end && e->end > end) crossing.push_back(e);
    }
    Ticks latest = end;
    for (const Event* e : crossing) latest = std::max(latest, e->end);
    while (!open_.empty()) {
      Ticks until = latest;
      for (const Event* e : crossing) {
        if (e->begin <= open_.back().call->begin) until = std::min(until, e->end);
      }
      pop(until, true);
    }
  }

 private:
  struct Open {
    Event* call;
    std::uint32_t function;  // 0 = unknown
  };
  void pop(Ticks at, bool is_unfinished) {
    open_.back().call->end = at;
    if (is_unfinished) open_.back().call->flags |= kUnfinished;
    open_.pop_back();
  }

  const spool::View& view_;
  std::deque<Event>& calls_;
  std::vector<const Event*>& of_thread_;
  std::vector<Open> open_;
};

void PythonCalls::follow(const spool::View& view, const PythonSpan& window, Thread& thread,
                         const std::vector<const Event*>& others) {
  // Runs may come in any order.
  std::stable_sort(thread.recorded.begin(), thread.recorded.end(), [](const Event& a, const Event& b) {
    if (a.begin != b.begin) return a.begin < b.begin;
    return a.hook == HookId::kPythonStack && b.hook != HookId::kPythonStack;
  });
  Stack stack(view, calls_, thread.calls);
  bool follows = false, takes_stack = false;
  for (const Event& recorded : thread.recorded) {
    const bool is_stack = recorded.hook == HookId::kPythonStack;
    if (is_stack && recorded.stack_part == StackPart::kAfterLoss) cut_ += stack.end_all(recorded.begin);
    if (is_stack && recorded.stack_part != StackPart::kMore) takes_stack = !follows || stack.empty();
    if (is_stack && !takes_stack) continue;  // another window began
    if (!follows && (since_ == 0 || recorded.begin < since_)) since_ = recorded.begin;
    follows = true;
    for (const std::uint64_t word : recorded.python_marks.words) {
      const Mark mark = Mark::unpack(word);
      const Ticks at = recorded.begin + mark.after;
      if (word == 0 || at >= window.end) break;
      if (mark.is_end) {
        cut_ += stack.end(mark.id, at);
      } else {
        stack.begin(mark.id, at);
      }
    }
  }
  stack.end_with_window(window.end, others);
}

/// Numbers calls and modules in the order of their begins, as PyTorch does.
void PythonCalls::number(const spool::View& view) {
  std::vector<Event*> all;
  all.reserve(calls_.size());
  for (Event& call : calls_) all.push_back(&call);
  std::stable_sort(all.begin(), all.end(), [](const Event* a, const Event* b) { return a->begin < b->begin; });
  std::unordered_map<std::uint64_t, std::unordered_map<std::uint64_t, std::int64_t>> modules;
  std::vector<std::uint64_t> id_of(all.size() + 1);  // by the id before; a call begins after its parent
  std::uint64_t id = 0;
  for (Event* const call : all) {
    PythonCallArgs& args = call->python_call;
    id_of[args.id] = ++id;
    args = {.id = id, .parent = id_of[args.parent], .module = kNoModule, .reserved = {}};
    const CallSite site = CallSite::parse(view.string(call->name));
    if (site.module == 0) continue;
    auto& of_type = modules[site.module_type];
    args.module = of_type.try_emplace(site.module, static_cast<std::int64_t>(of_type.size())).first->second;
  }
}

}  // namespace profshim::kineto
