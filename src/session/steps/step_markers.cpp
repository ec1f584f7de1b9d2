#include "step_markers.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstring>
#include <functional>

#include "profshim/base/glob.h"
#include "profshim/session.h"
#include "steps.h"

namespace profshim::session {
namespace {

struct Slot {
  std::atomic<std::size_t> hash;  // of the name; 0 = free
  std::atomic<std::uint32_t> count;
};
/// Names that find no slot are not counted.
constinit std::array<Slot, 1024> slots = {};
constexpr std::size_t kReach = 16;

std::size_t hash_of(std::string_view name) { return std::hash<std::string_view>{}(name) | 1; }

}  // namespace

void note_earlier_marker(std::string_view name) {
  const std::size_t hash = hash_of(name);
  for (std::size_t i = 0; i < kReach; ++i) {
    Slot& slot = slots[(hash / 2 + i) % slots.size()];
    std::size_t there = slot.hash.load(std::memory_order_relaxed);
    if (there == 0 && slot.hash.compare_exchange_strong(there, hash)) there = hash;
    if (there != hash) continue;
    slot.count.fetch_add(1, std::memory_order_relaxed);
    return;
  }
}

void forget_earlier_markers() {
  for (Slot& slot : slots) {
    slot.hash = 0;
    slot.count = 0;
  }
}

std::uint32_t earlier_markers(std::string_view name) {
  const std::size_t hash = hash_of(name);
  for (std::size_t i = 0; i < kReach; ++i) {
    const Slot& slot = slots[(hash / 2 + i) % slots.size()];
    if (slot.hash.load(std::memory_order_relaxed) == hash) return slot.count.load(std::memory_order_relaxed);
  }
  return 0;
}

namespace {

class Markers {
 public:
  Markers(const spool::View& view, const StepRule& rule, std::int32_t tid, Ticks since, Ticks until)
      : view_(view), rule_(rule), since_(since), until_(until) {
    view.for_each_run([&](const spool::Run& run) {
      if (run.header->tid != tid) return;
      for (std::uint32_t i = 0; i < run.count; ++i) add(run.events[i]);
    });
    for (std::uint32_t i = 0; i < view.header().thread_count; ++i) {
      const spool::Thread& thread = view.thread(i);
      if (thread.tid.load(std::memory_order_relaxed) != tid) continue;
      for (std::uint32_t k = 0; k < std::min(thread.open_calls, spool::kMaxOpenCalls); ++k) {
        if (thread.open[k].begin != 0 && !rule.at_end) add(thread.open[k]);
      }
    }
    std::sort(found_.begin(), found_.end(),
              [](const RecordedMarker& a, const RecordedMarker& b) { return a.at < b.at; });
  }

  const std::vector<RecordedMarker>& found() const { return found_; }

 private:
  void add(const Event& event) {
    const Ticks at = rule_.at_end ? event.end : event.begin;
    if (at < since_ || at >= until_ || (event.flags & kAsyncSlice) != 0) return;
    if (rule_.source == StepSource::kCollective) {
      if (rule_.hooks[static_cast<std::size_t>(event.hook)]) found_.push_back({at, std::nullopt, 0});
      return;
    }
    const std::string_view name = view_.string(event.name);
    if (rule_.of_operators) {
      const bool is_operator = event.hook == HookId::kTorchOperator && glob_match(rule_.pattern, name);
      if (is_operator) found_.push_back({at, std::nullopt, event.name});
      return;
    }
    const bool torch = event.hook == HookId::kTorchRange;
    if (!torch && event.hook != HookId::kNvtxRange) return;
    const StepPattern* const pattern = matched_pattern(rule_, name, torch ? MarkerKind::kTorch : MarkerKind::kNvtx);
    if (pattern != nullptr) found_.push_back({at, number_of(rule_, *pattern, name), event.name});
  }

  const spool::View& view_;
  const StepRule& rule_;
  const Ticks since_, until_;
  std::vector<RecordedMarker> found_;
};

}  // namespace

std::vector<RecordedMarker> recorded_markers(const spool::View& view, const StepRule& rule, std::int32_t tid,
                                             Ticks since, Ticks until) {
  return Markers(view, rule, tid, since, until).found();
}

namespace {

constinit std::atomic<std::uint32_t> generation{0};

std::optional<std::int64_t> integer_at(std::string_view text, std::size_t at) {
  std::int64_t value = 0;
  std::size_t i = at;
  for (; i < text.size() && text[i] >= '0' && text[i] <= '9'; ++i) {
    if (value > (std::int64_t{1} << 58)) return std::nullopt;
    value = value * 10 + (text[i] - '0');
  }
  return i == at ? std::nullopt : std::optional(value);
}

// Returns the integer behind the prefix ("step 3/100" gives 3 for "step *"), else the last integer of the text.
std::optional<std::int64_t> number_in(std::string_view text, std::string_view prefix) {
  if (const auto value = integer_at(text, prefix.size()); value && !prefix.empty()) return value;
  std::size_t end = text.size();
  while (end > 0 && (text[end - 1] < '0' || text[end - 1] > '9')) --end;
  std::size_t begin = end;
  while (begin > 0 && text[begin - 1] >= '0' && text[begin - 1] <= '9') --begin;
  return begin == end ? std::nullopt : integer_at(text, begin);
}

bool matches(const StepPattern& pattern, std::string_view text) {
  return text.size() >= pattern.prefix.size() &&
         std::memcmp(text.data(), pattern.prefix.data(), pattern.prefix.size()) == 0 &&
         glob_match(pattern.pattern, text);
}

}  // namespace

const StepPattern* matched_pattern(const StepRule& rule, std::string_view text, MarkerKind kind) {
  if (rule.source == StepSource::kNvtx && kind != MarkerKind::kNvtx) return nullptr;
  int locked = rule.locked.load(std::memory_order_relaxed);
  for (std::size_t i = 0; i < rule.patterns.size(); ++i) {
    const StepPattern& pattern = rule.patterns[i];
    const int mine = static_cast<int>(i);
    if ((locked >= 0 && mine != locked) || (pattern.torch_only && kind == MarkerKind::kNvtx)) continue;
    if (!matches(pattern, text)) continue;
    if (mine == locked) return rule.locked_kind.load(std::memory_order_relaxed) == kind ? &pattern : nullptr;
    const bool mine_now = rule.locked.compare_exchange_strong(locked, mine) || locked == mine;
    if (mine_now) rule.locked_kind.store(kind, std::memory_order_relaxed);
    return mine_now ? &pattern : nullptr;
  }
  return nullptr;
}

std::optional<std::int64_t> number_of(const StepRule& rule, const StepPattern& pattern, std::string_view text) {
  return rule.is_numbered ? number_in(text, pattern.prefix) : std::nullopt;
}

void Steps::set_rule(const StepRule* rule) {
  recorder::header().markers_end_steps = rule->at_end ? 1 : 0;
  rule_.store(rule, std::memory_order_release);
  allow_marker_first_bytes(*rule, plan_.spec.steps.epoch);
  generation.fetch_add(1, std::memory_order_release);
}

std::uint32_t marker_generation() { return generation.load(std::memory_order_acquire); }

bool Steps::may_make_steps(const StepRule& rule) const {
  if (rule.is_found()) return true;
  const Search search = search_.state.load();
  if (search == Search::kChanging || search == Search::kFound) return false;
  if (must_be_found(plan_.spec) && plan_.records_steps)
    recorder::header().step_confidence = recorder::intern_literal("high");
  return true;
}

void Steps::epoch_boundary(std::string_view text) {
  if (on_step_thread()) counter_.on_epoch(number_in(text, epoch_prefix_));
}

void Steps::use_found(const StepRule* rule, std::int32_t tid) {
  thread_.store(tid);
  recorder::header().step_tid = tid;
  recorder::header().step_source = recorder::intern(rule->text());
  recorder::header().step_confidence = recorder::intern(rule->confidence);
  set_rule(rule);
  recorder::set_mode(rule->mode_bits(), 0);
}

}  // namespace profshim::session
