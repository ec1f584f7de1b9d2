#include <cstring>

#include "profshim/base/glob.h"
#include "session/state.h"
#include "steps.h"

namespace profshim::session {

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

/// False if a known range comes when the search has found other steps.
bool may_make_steps(const State& s, const StepRule& rule) {
  if (rule.is_found()) return true;
  if (const Search search = s.search.load(); search == Search::kChanging || search == Search::kFound) return false;
  if (s.finder != nullptr) recorder::header().step_confidence = recorder::intern_literal("high");
  return true;
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

void set_rule(State& s, const StepRule* rule) {
  recorder::header().markers_end_steps = rule->at_end ? 1 : 0;
  s.rule.store(rule, std::memory_order_release);
  allow_marker_first_bytes(*rule, s.spec.steps.epoch);
  generation.fetch_add(1, std::memory_order_release);
}

std::uint32_t marker_generation() { return generation.load(std::memory_order_acquire); }

void epoch_boundary(std::string_view text) {
  State* const s = live();
  if (s != nullptr && on_step_thread(*s)) s->counter.on_epoch(number_in(text, s->epoch_prefix));
}

bool is_step_marker(std::string_view text, std::optional<std::int64_t>& number) {
  State* const s = live();
  if (s == nullptr) return false;
  const StepRule& rule = *s->rule.load(std::memory_order_acquire);
  const StepPattern* const pattern = matched_pattern(rule, text, MarkerKind::kNvtx);
  if (pattern == nullptr || !may_make_steps(*s, rule)) return false;
  number = number_of(rule, *pattern, text);
  return true;
}

void torch_range_begins(const char* name, Ticks at) {
  State* const s = live();
  if (s == nullptr) return;
  if (is_epoch_marker(name)) epoch_boundary(name);
  const StepRule& rule = *s->rule.load(std::memory_order_acquire);
  const StepPattern* const pattern = matched_pattern(rule, name, MarkerKind::kTorch);
  if (pattern == nullptr || !may_make_steps(*s, rule) || rule.at_end) return;
  step_boundary(at, number_of(rule, *pattern, name), recorder::intern(name));
}

void torch_range_ended(const char* name, Ticks at) {
  State* const s = live();
  if (s == nullptr) return;
  const StepRule& rule = *s->rule.load(std::memory_order_acquire);
  const StepPattern* const pattern = matched_pattern(rule, name, MarkerKind::kTorch);
  if (pattern == nullptr) return;
  if (!rule.at_end) return step_marker_ended(at);
  step_boundary(at, number_of(rule, *pattern, name), recorder::intern(name));
}

bool is_epoch_marker(std::string_view text) {
  State* const s = live();
  return s != nullptr && !s->spec.steps.epoch.empty() && glob_match(s->spec.steps.epoch, text);
}

void operator_begins(const char* name, Ticks at) {
  State* const s = live();
  if (s == nullptr || !glob_match(s->rule.load(std::memory_order_acquire)->pattern, name)) return;
  step_boundary(at, std::nullopt, recorder::intern(name));
}

bool is_step_hook(HookId hook) {
  State* const s = live();
  return s != nullptr && s->rule.load(std::memory_order_acquire)->hooks[static_cast<std::size_t>(hook)];
}

bool steps_end_with_marker() {
  State* const s = live();
  return s != nullptr && s->rule.load(std::memory_order_acquire)->at_end;
}

}  // namespace profshim::session
