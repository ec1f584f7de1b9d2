#include <algorithm>

#include "row_types.h"
#include "rows.h"

namespace profshim::spec {
namespace {

std::vector<std::string_view> counter_words() {
  std::vector<std::string_view> words;
  for (const PerfCounterName& counter : kPerfCounterNames) words.push_back(counter.name);
  return words;
}

bool store_perf(const Value& value, Spec& spec, Refusal& refusal) {
  const std::vector<Elsewhere> elsewhere = {
      {"cpu-cycles", "did you mean \"cycles\"?"},       {"cache-misses", "did you mean \"llc_misses\"?"},
      {"cache_misses", "did you mean \"llc_misses\"?"}, {"cache-references", "did you mean \"llc_references\"?"},
      {"cpu-clock", "did you mean \"task_clock\"?"},    {"faults", "did you mean \"page_faults\"?"},
      {"cs", "did you mean \"context_switches\"?"}};
  std::vector<std::string> names;
  if (!read_texts(value, names, refusal)) return false;
  const std::vector<std::string_view> words = counter_words();
  spec.counters.perf.clear();
  for (const std::string& name : names) {
    if (std::find(words.begin(), words.end(), name) != words.end()) continue;
    refusal.message = "unknown counter " + quoted(name);
    refusal.hint = choice_hint(name, words, elsewhere);
    return false;
  }
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (std::find(names.begin(), names.end(), words[i]) != names.end())
      spec.counters.perf.push_back(static_cast<PerfCounter>(i));
  }
  return true;
}

}  // namespace

KeyRow perf_row() {
  auto print = [](const Spec& spec) {
    std::vector<std::string> names;
    for (const PerfCounter counter : spec.counters.perf)
      names.emplace_back(kPerfCounterNames[static_cast<std::size_t>(counter)].name);
    return texts_to_toml(names);
  };
  Accepts accepts = {.kind = Accepts::Kind::kWords, .words = counter_words(), .or_none = true};
  std::string values;
  for (const std::string_view word : accepts.words) values.append(values.empty() ? "" : ", ").append(word);
  return {"counters.perf",
          "list of words",
          std::move(values),
          "",
          "counters of the thread that runs the steps, for each recorded step, and of the thread of each phase, by "
          "perf_event_open(2); the first six need hardware counters, which virtual machines may lack",
          store_perf,
          print,
          {},
          Combine::kNameSet,
          std::move(accepts)};
}

}  // namespace profshim::spec
