#include "shared_steps.h"

#include <time.h>

#include <algorithm>
#include <vector>

#include "profshim/base/text/number_text.h"
#include "profshim/run/once_per_job.h"

namespace profshim::session {
namespace {

constexpr std::ptrdiff_t kLeastSteps = 2;

std::int64_t number_after(const std::string& text, const char* word, std::int64_t otherwise) {
  const std::size_t at = text.find(word);
  const std::size_t begin = at + std::char_traits<char>::length(word);
  return at == std::string::npos ? otherwise : leading_number<std::int64_t>(std::string_view(text).substr(begin));
}

loop::Confidence confidence_of(const std::string& text) {
  for (const loop::Confidence one : {loop::Confidence::kHigh, loop::Confidence::kMedium}) {
    if (text.starts_with(loop::text_of(one))) return one;
  }
  return loop::Confidence::kLow;
}

}  // namespace

std::string shared_text(const StepRule& rule) { return std::string(rule.confidence) + "\n" + rule.settings() + "\n"; }

std::unique_ptr<const StepRule> shared_rule(const std::string& text, const loop::Sequence& sequence) {
  loop::Boundary boundary;
  boundary.every = static_cast<std::uint32_t>(std::max<std::int64_t>(1, number_after(text, " steps.every=", 1)));
  boundary.at_end = text.find(" steps.edge=end") != std::string::npos;
  for (const loop::Symbol& symbol : sequence.symbols) {
    if (!is_made_by_all(symbol.kind) || symbol.nested > 0) continue;
    std::unique_ptr<const StepRule> rule(rule_of(symbol, boundary, confidence_of(text)));
    if (rule == nullptr || shared_text(*rule) != text) continue;
    const auto calls = std::count_if(sequence.calls.begin(), sequence.calls.end(), [&](const loop::Call& call) {
      return sequence.symbols[call.symbol].kind == symbol.kind && sequence.symbols[call.symbol].name == symbol.name;
    });
    if (calls >= kLeastSteps * static_cast<std::ptrdiff_t>(boundary.every)) return rule;
  }
  return nullptr;
}

void SearchOfRanks::begin(int number) {
  decided_ = "steps-" + std::to_string(number);
  so_far_ = decided_ + "-so-far";
  messages_ = decided_ + "-messages";
  says_steps_ = false;
}

void SearchOfRanks::say(const StepRule* rule) {
  const bool is_for_all = rule != nullptr && rule->is_made_by_all;
  say_steps(is_for_all ? shared_text(*rule) : "");
  if (rule != nullptr && !is_for_all) say_messages();
}

void SearchOfRanks::say_steps(const std::string& text) {
  if (text.empty() && !says_steps_) return;  // another rank has said it
  says_steps_ = !text.empty();
  run::say(plan_.folder, so_far_.c_str(), base_time_ns_, text);
}

/// Two ranks are enough: each other one then knows of another.
void SearchOfRanks::say_messages() {
  const std::string ranks = said(messages_), own = std::to_string(plan_.rank.rank);
  if (ranks == own || ranks.find(',') != std::string::npos) return;
  const std::string all = ranks.empty() ? own : ranks + "," + own;
  run::say(plan_.folder, messages_.c_str(), base_time_ns_, all);
}

std::string SearchOfRanks::said(const std::string& topic) const {
  return run::said_first(plan_.folder, topic.c_str(), base_time_ns_, "");
}

std::string SearchOfRanks::seen_so_far() const { return said(so_far_); }

bool SearchOfRanks::has_heard_of_others() const {
  const std::string ranks = said(messages_);
  const bool others_see_messages = !ranks.empty() && ranks != std::to_string(plan_.rank.rank);
  return others_see_messages || !seen_so_far().empty() || !run::is_other_rank_claimed(plan_.folder, plan_.rank.rank);
}

void SearchOfRanks::await_word() const {
  constexpr int kWaits = 200;
  for (int i = 0; i < kWaits && decided("").empty() && !has_heard_of_others(); ++i) {
    const timespec pause{0, 10'000'000};
    nanosleep(&pause, nullptr);
  }
}

std::string SearchOfRanks::decided(const std::string& own) const {
  return run::said_first(plan_.folder, decided_.c_str(), base_time_ns_, own);
}

bool recurs_on_all_ranks(const loop::Sequence& sequence) {
  std::vector<std::ptrdiff_t> calls(sequence.symbols.size());
  for (const loop::Call& call : sequence.calls) ++calls[call.symbol];
  for (std::size_t i = 0; i < calls.size(); ++i) {
    if (calls[i] >= kLeastSteps && is_made_by_all(sequence.symbols[i].kind)) return true;
  }
  return false;
}

}  // namespace profshim::session
