#include <cstring>
#include <functional>

#include "profshim/base/glob.h"
#include "session/state.h"
#include "steps.h"

namespace profshim::session {

namespace {

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

/// After this many matches, a weak pattern or another optimizer is chosen.
constexpr std::uint32_t kPatience = 8;

enum class Range : std::uint8_t { kNvtx, kTorchBegins, kTorchEnded };

/// The first of several optimizers makes the steps, until others have made kPatience steps without it.
bool is_the_optimizer(State& s, std::string_view name) {
  const std::uint64_t own = std::hash<std::string_view>{}(name) | 1;
  std::uint64_t chosen = 0;
  if (s.optimizer.compare_exchange_strong(chosen, own) || chosen == own) {
    s.other_optimizers = 0;
    return true;
  }
  if (s.other_optimizers.fetch_add(1) + 1 < kPatience) return false;
  s.optimizer = own;
  s.other_optimizers = 0;
  return true;
}

const StepPattern* matched_pattern(State& s, std::string_view text, Range range) {
  const MarkerKind kind = range == Range::kNvtx ? MarkerKind::kNvtx : MarkerKind::kTorch;
  if (s.spec.steps.source == StepSource::kNvtx && kind != MarkerKind::kNvtx) return nullptr;
  int locked = s.locked_pattern.load(std::memory_order_relaxed);
  for (std::size_t i = 0; i < s.patterns.size(); ++i) {
    const StepPattern& pattern = s.patterns[i];
    const int mine = static_cast<int>(i);
    const bool better = locked >= 0 && s.patterns[static_cast<std::size_t>(locked)].is_weak && !pattern.is_weak;
    if ((locked >= 0 && mine != locked && !better) || (pattern.torch_only && range == Range::kNvtx)) continue;
    if (!matches(pattern, text)) continue;
    if (pattern.is_weak && range == Range::kTorchEnded) return nullptr;  // counted when it began
    if (mine == locked) return s.marker_kind.load(std::memory_order_relaxed) == kind ? &pattern : nullptr;
    if (pattern.is_weak && s.weak_matches.fetch_add(1, std::memory_order_relaxed) + 1 < kPatience) return nullptr;
    if (better) recorder::header().step_marker = 0;  // the next boundary stores the new marker
    const bool mine_now = s.locked_pattern.compare_exchange_strong(locked, mine) || locked == mine;
    if (mine_now) s.marker_kind.store(kind, std::memory_order_relaxed);
    return mine_now ? &pattern : nullptr;
  }
  return nullptr;
}

}  // namespace

void epoch_boundary(std::string_view text) {
  State* const s = live();
  if (s != nullptr && on_step_thread(*s)) s->counter.on_epoch(number_in(text, s->epoch_prefix));
}

bool is_step_marker(std::string_view text, std::optional<std::int64_t>& number) {
  State* const s = live();
  const StepPattern* const pattern = s == nullptr ? nullptr : matched_pattern(*s, text, Range::kNvtx);
  if (pattern == nullptr) return false;
  number = number_in(text, pattern->prefix);
  return true;
}

void torch_range_begins(const char* name, Ticks at) {
  State* const s = live();
  if (s == nullptr) return;
  if (is_epoch_marker(name)) epoch_boundary(name);
  const StepPattern* const pattern = matched_pattern(*s, name, Range::kTorchBegins);
  if (pattern == nullptr || pattern->at_end || s->spec.steps.edge_end) return;
  step_boundary(at, number_in(name, pattern->prefix), recorder::intern(name));
}

void torch_range_ended(const char* name, Ticks at) {
  State* const s = live();
  if (s == nullptr) return;
  const StepPattern* const pattern = matched_pattern(*s, name, Range::kTorchEnded);
  if (pattern == nullptr) return;
  if (!pattern->at_end && !s->spec.steps.edge_end) return step_marker_ended(at);
  if (pattern->at_end && !is_the_optimizer(*s, name)) return;
  step_boundary(at, pattern->at_end ? std::nullopt : number_in(name, pattern->prefix), recorder::intern(name));
}

bool is_epoch_marker(std::string_view text) {
  State* const s = live();
  return s != nullptr && !s->spec.steps.epoch.empty() && glob_match(s->spec.steps.epoch, text);
}

bool is_step_hook(HookId hook) {
  State* const s = live();
  return s != nullptr && s->spec.steps.source == StepSource::kCollective &&
         glob_match(s->spec.steps.pattern, hook_name(hook));
}

}  // namespace profshim::session
