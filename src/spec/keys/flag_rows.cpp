#include <algorithm>

#include "row_types.h"
#include "rows.h"

namespace profshim::spec {
namespace {

struct Flag {
  std::string_view name;
  bool& (*member)(Spec&);
};

/// A list of the flags that are on, at least one. `one`: the word for a flag in messages. `empty`: the effect of an
/// empty list.
struct FlagList {
  std::vector<Flag> flags;
  std::string one, empty;
  std::vector<Elsewhere> elsewhere;

  std::string values() const {
    std::string text;
    for (const Flag& flag : flags) text += (text.empty() ? "" : ", ") + std::string(flag.name);
    return text;
  }

  bool store(const Value& value, Spec& spec, Refusal& refusal) const {
    std::vector<std::string> names;
    if (!read_texts(value, names, refusal)) return false;
    if (names.empty()) {
      refusal = {"an empty list " + empty, "allowed: " + values(), 0, 0};
      return false;
    }
    std::vector<std::string_view> words;
    for (const Flag& flag : flags) words.push_back(flag.name);
    std::vector<bool> wanted(flags.size());
    for (const std::string& name : names) {
      const auto found = std::find(words.begin(), words.end(), name);
      if (found == words.end()) {
        refusal.message = "unknown " + one + " " + quoted(name);
        refusal.hint = choice_hint(name, words, elsewhere);
        return false;
      }
      wanted[static_cast<std::size_t>(found - words.begin())] = true;
    }
    for (std::size_t i = 0; i < flags.size(); ++i) flags[i].member(spec) = wanted[i];
    return true;
  }

  std::string print(const Spec& spec) const {
    std::vector<std::string> names;
    for (const Flag& flag : flags) {
      if (flag.member(const_cast<Spec&>(spec))) names.emplace_back(flag.name);
    }
    return texts_to_toml(names);
  }
};

KeyRow flags_row(std::string key, std::string_view short_forms, std::string_view sentence, const FlagList& list) {
  Accepts accepts = {.kind = Accepts::Kind::kWords};
  for (const Flag& flag : list.flags) accepts.words.push_back(flag.name);
  auto store = [list](const Value& value, Spec& spec, Refusal& refusal) { return list.store(value, spec, refusal); };
  auto print = [list](const Spec& spec) { return list.print(spec); };
  return {std::move(key),    "list of words",   list.values(), short_forms, sentence, store, print, {},
          Combine::kNameSet, std::move(accepts)};
}

}  // namespace

KeyRow activities_row() {
  return flags_row("capture.activities", "PROFSHIM_ACTIVITIES", "activities to record; steps are always recorded",
                   {{{"cpu", [](Spec& s) -> bool& { return s.activities.cpu; }},
                     {"cuda", [](Spec& s) -> bool& { return s.activities.cuda; }},
                     {"nccl", [](Spec& s) -> bool& { return s.activities.nccl; }},
                     {"mpi", [](Spec& s) -> bool& { return s.activities.mpi; }},
                     {"nvtx", [](Spec& s) -> bool& { return s.activities.nvtx; }}},
                    "activity",
                    "records nothing",
                    {{"gpu", "did you mean \"cuda\"?"},
                     {"device", "did you mean \"cuda\"?"},
                     {"kernel", "did you mean \"cuda\"?"},
                     {"kernels", "did you mean \"cuda\"?"},
                     {"host", "did you mean \"cpu\"?"},
                     {"all", "allowed: cpu, cuda, nccl, mpi, nvtx"}}});
}

KeyRow require_any_row() {
  return flags_row(
      "process.require_any", "",
      "a process records once it uses one of these: CUDA, NCCL, MPI, or operators of PyTorch; with start, at "
      "once; others stay idle",
      {{{"cuda", [](Spec& s) -> bool& { return s.process.require_any.cuda; }},
        {"nccl", [](Spec& s) -> bool& { return s.process.require_any.nccl; }},
        {"mpi", [](Spec& s) -> bool& { return s.process.require_any.mpi; }},
        {"torch", [](Spec& s) -> bool& { return s.process.require_any.torch; }},
        {"start", [](Spec& s) -> bool& { return s.process.require_any.start; }}},
       "library",
       "lets no process record",
       {{"gpu", "did you mean \"cuda\"?"},
        {"pytorch", "did you mean \"torch\"?"},
        {"cpu", "did you mean \"torch\"?"}}});
}

}  // namespace profshim::spec
