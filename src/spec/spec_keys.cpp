#include "spec_keys.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstddef>
#include <initializer_list>
#include <limits>
#include <utility>

#include "profshim/output.h"
#include "profshim/recorder_control.h"
#include "spec/check/rules.h"
#include "step_list.h"

namespace profshim::spec {
namespace {

// ---- one function per type of value
// ----------------------------------------------------------------------------------

std::string number_text(double value) {
  char text[400];
  const auto [end, error] = std::to_chars(text, text + sizeof text, value, std::chars_format::fixed);
  return error == std::errc() ? std::string(text, end) : std::string("0");
}

std::string texts_to_toml(const std::vector<std::string>& texts) {
  std::string out = "[";
  for (const std::string& text : texts) out += (out.size() > 1 ? ", " : "") + toml_string(text);
  return out + "]";
}

template <class Number>
KeyRow integer_row(std::string key, std::int64_t least, std::int64_t most, Number& (*member)(Spec&),
                   std::string_view sentence) {
  std::string values = std::to_string(least) + " to " + std::to_string(most);
  if (most == kLargestNumber) values = least == -kLargestNumber ? "any" : std::to_string(least) + " or more";
  auto store = [least, most, member, values](const Value& value, Spec& spec, Refusal& refusal) {
    std::int64_t number = 0;
    if (!read_integer(value, number, refusal)) {
      if (refusal.hint.empty() && values != "any") refusal.hint = "allowed: " + values;
      return false;
    }
    if (number < least || number > most) {
      const bool small = number < least;
      refusal = {std::to_string(number) + (small ? " is too small" : " is too large"), "allowed: " + values, 0, 0};
      if (!small && values.ends_with("more")) refusal.hint += ", up to 9007199254740992";
      // What does not fit into 64 bits arrives as the largest number there is.
      if (number == std::numeric_limits<std::int64_t>::max()) refusal.message = "the number is too large";
      return false;
    }
    member(spec) = static_cast<Number>(number);
    return true;
  };
  auto print = [member](const Spec& spec) { return std::to_string(member(const_cast<Spec&>(spec))); };
  return {std::move(key), "whole number", values, "", sentence, store, print, {}, {}};
}

KeyRow boolean_row(std::string key, bool& (*member)(Spec&), std::string_view sentence) {
  auto store = [member](const Value& value, Spec& spec, Refusal& refusal) {
    return read_boolean(value, member(spec), refusal);
  };
  auto print = [member](const Spec& spec) { return std::string(member(const_cast<Spec&>(spec)) ? "true" : "false"); };
  return {std::move(key), "boolean", "true, false", "", sentence, store, print, {}, {}};
}

KeyRow text_row(std::string key, std::string type, std::string& (*member)(Spec&), std::string_view sentence,
                std::string (*check)(const std::string&) = nullptr) {
  auto store = [member, check](const Value& value, Spec& spec, Refusal& refusal) {
    std::string text;
    if (!read_text(value, text, refusal)) return false;
    if (check != nullptr) refusal.message = check(text);
    if (!refusal.message.empty()) return false;
    member(spec) = std::move(text);
    return true;
  };
  auto print = [member](const Spec& spec) { return toml_string(member(const_cast<Spec&>(spec))); };
  return {std::move(key), std::move(type), "any", "", sentence, store, print, {}, {}};
}

KeyRow texts_row(std::string key, std::string type, std::vector<std::string>& (*member)(Spec&),
                 std::string_view sentence) {
  auto store = [member](const Value& value, Spec& spec, Refusal& refusal) {
    return read_texts(value, member(spec), refusal);
  };
  auto print = [member](const Spec& spec) { return texts_to_toml(member(const_cast<Spec&>(spec))); };
  return {std::move(key), std::move(type), "any", "", sentence, store, print, {}, Combine::kNameSet};
}

KeyRow size_row(std::string key, std::uint64_t least, std::uint64_t& (*member)(Spec&), std::string_view sentence) {
  auto store = [least, member](const Value& value, Spec& spec, Refusal& refusal) {
    std::uint64_t bytes = 0;
    if (!read_size(value, bytes, refusal)) return false;
    constexpr std::uint64_t kMost = std::uint64_t{1} << 60;
    if (bytes < least || bytes > kMost) {
      refusal.message = format_size(bytes) + (bytes < least ? " is too small" : " is too large");
      refusal.hint = "allowed: " + format_size(least) + (bytes < least ? " or more" : " to 1048576 TiB");
      return false;
    }
    member(spec) = bytes;
    return true;
  };
  auto print = [member](const Spec& spec) {
    const std::uint64_t bytes = member(const_cast<Spec&>(spec));
    for (const auto& [unit, name] : {std::pair{30, "GiB"}, std::pair{20, "MiB"}, std::pair{10, "KiB"}}) {
      const std::uint64_t size = std::uint64_t{1} << unit;
      if (bytes != 0 && bytes % size == 0) return toml_string(std::to_string(bytes / size) + name);
    }
    return std::to_string(bytes);
  };
  std::string values = least == 0 ? std::string("0 or more") : format_size(least) + " or more";
  return {std::move(key), "size", std::move(values), "", sentence, store, print, {}, {}};
}

template <class T>
struct Choice {
  std::string_view word;
  T value;
};
/// Words of other tools and later versions, and what to say about them.
struct Elsewhere {
  std::string_view word, hint;
};

/// "allowed: a, b", or the word that was probably meant.
std::string choice_hint(std::string_view text, const std::vector<std::string_view>& words,
                        const std::vector<Elsewhere>& elsewhere) {
  const auto known =
      std::find_if(elsewhere.begin(), elsewhere.end(), [&](const Elsewhere& e) { return e.word == text; });
  if (known != elsewhere.end()) return std::string(known->hint);
  const std::string_view near = nearest(text, words);
  if (!near.empty()) return "did you mean \"" + std::string(near) + "\"?";
  std::string hint = "allowed: ";
  for (const std::string_view word : words) hint += (word == words.front() ? "" : ", ") + std::string(word);
  return hint;
}

/// A key that is one of a few words. With `boolean`, true and false are two of them and any strict boolean will do.
template <class T>
KeyRow choice_row(std::string key, std::vector<Choice<T>> choices, T& (*member)(Spec&), std::string_view sentence,
                  std::vector<Elsewhere> elsewhere = {}, bool boolean = false) {
  std::vector<std::string_view> words;
  std::string values;
  for (const Choice<T>& choice : choices) {
    words.push_back(choice.word);
    values += (values.empty() ? "" : ", ") + std::string(choice.word);
  }
  auto store = [=](const Value& value, Spec& spec, Refusal& refusal) {
    std::string text;
    bool flag = false;
    if (boolean && read_boolean(value, flag, refusal)) {
      text = flag ? "true" : "false";
    } else if (refusal = {}; !read_text(value, text, refusal)) {
      return false;
    }
    const auto found = std::find_if(choices.begin(), choices.end(), [&](const auto& c) { return c.word == text; });
    if (found == choices.end()) {
      refusal = {"unknown value " + quoted(text), choice_hint(text, words, elsewhere), 0, 0};
      return false;
    }
    member(spec) = found->value;
    return true;
  };
  auto print = [=](const Spec& spec) {
    const T& value = member(const_cast<Spec&>(spec));
    const auto found = std::find_if(choices.begin(), choices.end(), [&](const auto& c) { return c.value == value; });
    const std::string word(found == choices.end() ? choices.front().word : found->word);
    return boolean && (word == "true" || word == "false") ? word : toml_string(word);
  };
  return {std::move(key), "word", std::move(values), "", sentence, store, print, {}, {}};
}

KeyRow with_short_forms(KeyRow row, std::string_view short_forms) {
  row.short_forms = short_forms;
  return row;
}

// ---- keys whose values have a shape of their own
// -----------------------------------------------------------------------

KeyRow version_row() {
  auto store = [](const Value& value, Spec&, Refusal& refusal) {
    std::int64_t version = 0;
    if (!read_integer(value, version, refusal)) return false;
    if (version == 1) return true;
    refusal = {"version " + std::to_string(version) + " is not known", "this profshim reads version = 1", 0, 0};
    return false;
  };
  return {
      "version", "whole number", "1", "", "version of the spec's own format; required in every file", store, {}, "1",
      {}};
}

KeyRow include_files_row() {
  auto store = [](const Value& value, Spec&, Refusal& refusal) {
    std::vector<std::string> files;
    return read_texts(value, files, refusal);
  };
  return {"include.files",
          "list of paths",
          "any",
          "",
          "other specs this one starts from; relative to this file",
          store,
          {},
          "[]",
          {}};
}

KeyRow include_combine_row() {
  auto store = [](const Value& value, Spec&, Refusal& refusal) {
    std::string word;
    if (!read_text(value, word, refusal)) return false;
    const std::vector<std::string_view> words = {"override", "union", "intersection"};
    if (std::find(words.begin(), words.end(), word) != words.end()) return true;
    refusal = {"unknown value " + quoted(word), choice_hint(word, words, {}), 0, 0};
    return false;
  };
  return {"include.combine",
          "word",
          "override, union, intersection",
          "",
          "how ranks and lists of several files meet; other keys: the later file wins",
          store,
          {},
          "\"override\"",
          {}};
}

KeyRow ranks_row() {
  auto store = [](const Value& value, Spec& spec, Refusal& refusal) {
    std::string text;
    if (!read_text(value, text, refusal)) return false;
    int column = 0;
    if (spec.ranks.select.parse(text, refusal.message, column)) return true;
    if (value.column > 0) refusal.column = value.column + column;
    refusal.line = value.line;
    // Where the message does not name a way out itself.
    if (refusal.message.find(';') == std::string::npos)
      refusal.hint = "write it like \"0,8-15\", \"all\" or \"local:0\"";
    return false;
  };
  auto print = [](const Spec& spec) { return toml_string(spec.ranks.select.text()); };
  return {"ranks.select",
          "rank expression",
          "0,8-15 | all | last | every:8 | local:0 | node:0-1 | host:gpu* | a & b | !a | (a)",
          "PROFSHIM_RANKS, --ranks",
          "which ranks record; \",\" is or, \"&\" is and, \"!\" is not",
          store,
          print,
          {},
          Combine::kRankSet};
}

KeyRow steps_row() {
  auto store = [](const Value& value, Spec& spec, Refusal& refusal) {
    return read_steps(value, spec.schedule.steps, refusal);
  };
  auto print = [](const Spec& spec) { return steps_to_toml(spec.schedule.steps); };
  return {"schedule.steps",
          "list of steps",
          "[1, 2, \"5-7\"]",
          "PROFSHIM_STEPS, --steps",
          "these steps instead of a cycle; ranges include both ends",
          store,
          print,
          {},
          Combine::kStepSet};
}

struct ActivityFlag {
  std::string_view name;
  bool& (*member)(Spec&);
};
constexpr std::array<ActivityFlag, 5> kActivities = {{{"cpu", [](Spec& s) -> bool& { return s.activities.cpu; }},
                                                      {"cuda", [](Spec& s) -> bool& { return s.activities.cuda; }},
                                                      {"nccl", [](Spec& s) -> bool& { return s.activities.nccl; }},
                                                      {"mpi", [](Spec& s) -> bool& { return s.activities.mpi; }},
                                                      {"nvtx", [](Spec& s) -> bool& { return s.activities.nvtx; }}}};

bool store_activities(const Value& value, Spec& spec, Refusal& refusal) {
  constexpr const char* kAllowed = "allowed: cpu, cuda, nccl, mpi, nvtx";
  std::vector<std::string> names;
  if (!read_texts(value, names, refusal)) return false;
  if (names.empty()) {
    refusal = {"an empty list records nothing", kAllowed, 0, 0};
    return false;
  }
  std::vector<std::string_view> words;
  for (const ActivityFlag& activity : kActivities) words.push_back(activity.name);
  const std::vector<Elsewhere> elsewhere = {{"gpu", "did you mean \"cuda\"?"},    {"device", "did you mean \"cuda\"?"},
                                            {"kernel", "did you mean \"cuda\"?"}, {"kernels", "did you mean \"cuda\"?"},
                                            {"host", "did you mean \"cpu\"?"},    {"all", kAllowed}};
  std::array<bool, kActivities.size()> wanted = {};
  for (const std::string& name : names) {
    const auto found = std::find(words.begin(), words.end(), name);
    if (found == words.end()) {
      refusal.message = "unknown activity " + quoted(name);
      refusal.hint = choice_hint(name, words, elsewhere);
      return false;
    }
    wanted[static_cast<std::size_t>(found - words.begin())] = true;
  }
  for (std::size_t i = 0; i < kActivities.size(); ++i) kActivities[i].member(spec) = wanted[i];
  return true;
}

KeyRow activities_row() {
  auto print = [](const Spec& spec) {
    std::vector<std::string> names;
    for (const ActivityFlag& activity : kActivities) {
      if (activity.member(const_cast<Spec&>(spec))) names.emplace_back(activity.name);
    }
    return texts_to_toml(names);
  };
  return {"capture.activities",
          "list of words",
          "cpu, cuda, nccl, mpi, nvtx",
          "PROFSHIM_ACTIVITIES",
          "what to record of what this version and this machine can; steps are always kept",
          store_activities,
          print,
          {},
          Combine::kNameSet};
}

/// The trace is always written: what readers need, and what the rest is made from.
bool store_export(const Value& value, Spec& spec, Refusal& refusal) {
  constexpr const char* kAllowed = "allowed: chrome_trace, stacks";
  constexpr std::string_view kTrace = "chrome_trace", kStacks = "stacks";
  std::vector<std::string> names;
  if (!read_texts(value, names, refusal)) return false;
  const std::vector<std::string_view> words = {kTrace, kStacks};
  for (const std::string& name : names) {
    if (std::find(words.begin(), words.end(), name) != words.end()) continue;
    refusal.message = "unknown export " + quoted(name);
    refusal.hint = choice_hint(name, words, {{"trace", kAllowed}, {"json", kAllowed}, {"flamegraph", kAllowed}});
    return false;
  }
  if (std::find(names.begin(), names.end(), kTrace) == names.end()) {
    refusal = {"\"chrome_trace\" is missing: the trace is always written", "write [\"chrome_trace\", \"stacks\"]", 0,
               0};
    return false;
  }
  spec.output.stacks = std::find(names.begin(), names.end(), kStacks) != names.end();
  return true;
}

KeyRow export_row() {
  auto print = [](const Spec& spec) {
    std::vector<std::string> names = {"chrome_trace"};
    if (spec.output.stacks) names.emplace_back("stacks");
    return texts_to_toml(names);
  };
  return {"output.export",
          "list of words",
          "chrome_trace, stacks",
          "",
          "what a window gives: the trace, and beside it a file of its stacks for flame graphs, each with the CPU time "
          "of its own in microseconds",
          store_export,
          print,
          {},
          Combine::kNameSet};
}

KeyRow window_seconds_row() {
  constexpr double kMost = 31536000;
  auto store = [](const Value& value, Spec& spec, Refusal& refusal) {
    double seconds = 0;
    if (!read_number(value, seconds, refusal)) return false;
    if (seconds > 0 && seconds <= kMost) {
      spec.limits.window_seconds = seconds;
      return true;
    }
    refusal = {number_text(seconds) + (seconds > 0 ? " is too large" : " is too small"),
               "allowed: more than 0, up to a year (31536000)", 0, 0};
    return false;
  };
  auto print = [](const Spec& spec) { return number_text(spec.limits.window_seconds); };
  return {"limits.window_seconds",
          "number",
          "more than 0, up to 31536000",
          "",
          "a window that lasts longer is closed",
          store,
          print,
          {},
          {}};
}

// ---- the table
// ---------------------------------------------------------------------------------------------------------

std::string check_folder(const std::string& text) { return output::check_pattern(text, true); }
std::string check_filename(const std::string& text) { return output::check_pattern(text, false); }

std::string check_run_name(const std::string& text) {
  if (text.find('/') != std::string::npos) return "a run name is one folder name and cannot hold \"/\"";
  if (text == "." || text == "..") return "a run name cannot be \"" + text + "\"";
  return "";
}

/// A bare word is a level in the wrong place, or a slip: as a path it would make a file of that name.
std::string check_log(const std::string& text) {
  if (text.empty()) return "a destination is missing; write \"stderr\" or a path";
  const auto is_letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); };
  if (text == "stderr" || !std::all_of(text.begin(), text.end(), is_letter)) return "";
  return quoted(text) +
         " is neither \"stderr\" nor a path; levels are quiet, error, warn, info, debug; a file of that "
         "name is \"./" +
         text + "\"";
}

std::string check_ranks(const std::string& text) {
  if (text.empty()) return "";
  RankExpression ranks;
  std::string message;
  int column = 0;
  if (!ranks.parse(text, message, column)) return message;
  return ranks.selects_nobody() ? "chooses no rank in any job" : "";
}

KeyRow check_rule_row() {
  auto store = [](const Value& value, Spec& spec, Refusal& refusal) {
    return read_check_rules(value, spec.check.rules, refusal);
  };
  auto print = [](const Spec& spec) { return check_rules_to_toml(spec.check.rules); };
  return {"check.rule",
          "list of tables",
          "tables of metric, name, min, max, baseline, tolerance",
          "",
          "what `profshim compare --spec` holds a run to: launches_per_step, kernels_per_step, calls_per_step, "
          "mpi_bytes_per_step, step_us, kernel_us, call_us, communication_us",
          store,
          print,
          {},
          {}};
}

template <class T>
using C = std::vector<Choice<T>>;

std::vector<KeyRow> make_rows() {
  constexpr std::int64_t kAny = kLargestNumber;
  std::vector<KeyRow> rows = {
      version_row(),
      include_files_row(),
      include_combine_row(),

      with_short_forms(boolean_row(
                           "profile.enable", [](Spec& s) -> bool& { return s.profile.enable; },
                           "off means off: nothing is loaded, opened or recorded"),
                       "PROFSHIM"),
      with_short_forms(
          text_row(
              "profile.run_name", "text", [](Spec& s) -> std::string& { return s.profile.run_name; },
              "name of the run, equal on all ranks; empty = made from the job and its start", check_run_name),
          "PROFSHIM_RUN_NAME, --run-name"),
      choice_row<bool>(
          "profile.on_error", {{"disable", false}, {"abort", true}},
          [](Spec& s) -> bool& { return s.profile.abort_on_error; },
          "when the profile cannot work: let the job run without it, or end the job"),
      choice_row<OnConflict>(
          "profile.conflict",
          {{"yield", OnConflict::kYield}, {"refuse", OnConflict::kRefuse}, {"ignore", OnConflict::kIgnore}},
          [](Spec& s) -> OnConflict& { return s.profile.on_conflict; },
          "when the job's own profiler wants the GPU (CUPTI): make room for it, refuse it, or go on beside it"),
      with_short_forms(
          choice_row<LogLevel>("profile.log_level",
                               {{"quiet", LogLevel::kQuiet},
                                {"error", LogLevel::kError},
                                {"warn", LogLevel::kWarn},
                                {"info", LogLevel::kInfo},
                                {"debug", LogLevel::kDebug}},
                               [](Spec& s) -> LogLevel& { return s.profile.log_level; }, "what is said in the log",
                               {{"warning", "did you mean \"warn\"?"}, {"off", "did you mean \"quiet\"?"}}),
          "PROFSHIM_LOG"),
      with_short_forms(text_row(
                           "profile.log", "path", [](Spec& s) -> std::string& { return s.profile.log; },
                           "where the log goes: stderr or a file", check_log),
                       "PROFSHIM_LOG"),

      texts_row(
          "process.match", "list of patterns", [](Spec& s) -> std::vector<std::string>& { return s.process.match; },
          "only processes whose program matches one of these record; empty = all"),
      texts_row(
          "process.exclude", "list of patterns", [](Spec& s) -> std::vector<std::string>& { return s.process.exclude; },
          "processes whose program matches one of these do not record"),
      text_row(
          "process.role", "text", [](Spec& s) -> std::string& { return s.process.role; },
          "what this process is in the job; written into the trace"),

      ranks_row(),
      choice_row<std::string>(
          "ranks.source",
          {{"auto", "auto"},
           {"mpi", "mpi"},
           {"RANK", "RANK"},
           {"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_RANK"},
           {"PMIX_RANK", "PMIX_RANK"},
           {"PMI_RANK", "PMI_RANK"},
           {"PALS_RANKID", "PALS_RANKID"},
           {"MV2_COMM_WORLD_RANK", "MV2_COMM_WORLD_RANK"},
           {"FLUX_TASK_RANK", "FLUX_TASK_RANK"},
           {"JSM_NAMESPACE_RANK", "JSM_NAMESPACE_RANK"},
           {"SLURM_PROCID", "SLURM_PROCID"}},
          [](Spec& s) -> std::string& { return s.ranks.source; },
          "where the rank comes from; auto = MPI, else the launcher's variables"),
      choice_row<bool>(
          "ranks.unknown", {{"skip", false}, {"record", true}}, [](Spec& s) -> bool& { return s.ranks.record_unknown; },
          "what a process does whose rank is not known"),

      choice_row<StepSource>(
          "steps.source",
          {{"auto", StepSource::kAuto},
           {"nvtx", StepSource::kNvtx},
           {"symbol", StepSource::kSymbol},
           {"kernel", StepSource::kKernel},
           {"collective", StepSource::kCollective},
           {"cuda_profiler_api", StepSource::kCudaProfilerApi},
           {"torch", StepSource::kTorch},
           {"time", StepSource::kTime},
           {"none", StepSource::kNone}},
          [](Spec& s) -> StepSource& { return s.steps.source; }, "what makes a step"),
      text_row(
          "steps.pattern", "pattern", [](Spec& s) -> std::string& { return s.steps.pattern; },
          "the range, function, kernel or collective that marks a step: * ? [a-z]"),
      choice_row<bool>(
          "steps.edge", {{"begin", false}, {"end", true}}, [](Spec& s) -> bool& { return s.steps.edge_end; },
          "a step begins where its marker begins, or where it ends"),
      integer_row(
          "steps.every", 1, kAny, +[](Spec& s) -> std::int64_t& { return s.steps.every; },
          "so many markers make one step"),
      integer_row(
          "steps.every_ms", 0, kAny / 1000000, +[](Spec& s) -> std::int64_t& { return s.steps.every_ms; },
          "length of a step in milliseconds for source = \"time\""),
      integer_row(
          "steps.min_interval_ms", 0, kAny / 1000000, +[](Spec& s) -> std::int64_t& { return s.steps.min_interval_ms; },
          "a marker sooner than this after the last one is not counted"),
      choice_row<bool>(
          "steps.numbering", {{"relative", false}, {"absolute", true}},
          [](Spec& s) -> bool& { return s.steps.absolute; },
          "the schedule counts from the first step seen, or goes by the number in the marker's name"),
      integer_row(
          "steps.first", -kAny, kAny, +[](Spec& s) -> std::int64_t& { return s.steps.first; },
          "number of the first step where the marker's name has none"),
      text_row(
          "steps.epoch", "pattern", [](Spec& s) -> std::string& { return s.steps.epoch; },
          "the NVTX range that marks an epoch, for schedule.per = \"epoch\""),

      integer_row(
          "schedule.skip_first", 0, kAny, +[](Spec& s) -> std::int64_t& { return s.schedule.skip_first; },
          "steps before the first cycle"),
      integer_row(
          "schedule.wait", 0, kAny, +[](Spec& s) -> std::int64_t& { return s.schedule.wait; },
          "steps of each cycle that pass unwatched"),
      integer_row(
          "schedule.warmup", 0, kAny, +[](Spec& s) -> std::int64_t& { return s.schedule.warmup; },
          "steps of each cycle that are watched and thrown away"),
      integer_row(
          "schedule.active", 1, kAny, +[](Spec& s) -> std::int64_t& { return s.schedule.active; },
          "steps of each cycle that are recorded into one trace"),
      integer_row(
          "schedule.repeat", 0, kAny, +[](Spec& s) -> std::int64_t& { return s.schedule.repeat; },
          "number of cycles; 0 = without end"),
      integer_row(
          "schedule.skip_first_wait", 0, kAny, +[](Spec& s) -> std::int64_t& { return s.schedule.skip_first_wait; },
          "not 0: the first cycle has no wait"),
      steps_row(),
      boolean_row(
          "schedule.continuous", [](Spec& s) -> bool& { return s.schedule.continuous; },
          "consecutive steps of the list share a trace"),
      choice_row<bool>(
          "schedule.per", {{"run", false}, {"epoch", true}}, [](Spec& s) -> bool& { return s.schedule_per_epoch; },
          "the schedule runs once, or starts again with every epoch"),
      choice_row<bool>(
          "schedule.on_exit", {{"save", true}, {"discard", false}}, [](Spec& s) -> bool& { return s.save_on_exit; },
          "a window that is open when the job ends is saved and marked incomplete, or thrown away"),

      activities_row(),
      boolean_row(
          "capture.record_shapes", [](Spec& s) -> bool& { return s.record_shapes; },
          "shapes, types and plain values of what PyTorch's operators are given"),
      boolean_row(
          "capture.with_flops", [](Spec& s) -> bool& { return s.with_flops; },
          "floating-point operations of those operators of PyTorch for which it has a formula"),
      boolean_row(
          "capture.with_stack", [](Spec& s) -> bool& { return s.with_stack; },
          "Python's stack at each collective and at PyTorch's operators"),
      boolean_row(
          "capture.native_stack", [](Spec& s) -> bool& { return s.native_stack; },
          "the stack of C and C++ functions likewise, by libunwind"),
      integer_row(
          "capture.stack_every", 0, kAny, +[](Spec& s) -> std::int64_t& { return s.stack_every; },
          "every so many operators of a thread one has a stack; 0 = collectives alone"),
      integer_row(
          "capture.stack_depth", 1, 256, +[](Spec& s) -> std::int64_t& { return s.stack_depth; },
          "frames of a stack that are kept, the innermost first"),
      boolean_row(
          "capture.profile_memory", [](Spec& s) -> bool& { return s.profile_memory; },
          "allocations and releases of GPU memory, and of PyTorch's allocators"),
      boolean_row(
          "capture.cuda_sync", [](Spec& s) -> bool& { return s.cuda_sync; },
          "waits of the host and of streams on lines of the GPU as well, for HTA's critical path; its idle time counts "
          "them as work"),
      choice_row<bool>(
          "capture.mpi_polls", {{"folded", true}, {"each", false}}, [](Spec& s) -> bool& { return s.fold_polls; },
          "MPI_Test, MPI_Iprobe and their kin that came to nothing, one after the other: one event that counts them, "
          "or "
          "each its own"),
      choice_row<bool>(
          "capture.graphs", {{"nodes", false}, {"launches", true}}, [](Spec& s) -> bool& { return s.whole_graphs; },
          "CUDA graphs: every kernel and copy in them, or each launch as one event, which costs less"),
      boolean_row(
          "capture.nccl_profiler", [](Spec& s) -> bool& { return s.nccl_profiler; },
          "algorithm, protocol and channels of NCCL's operations, as its profiler plugin (2.27 and later, where the "
          "job "
          "has none of its own); not yet run on a GPU"),

      with_short_forms(
          size_row(
              "limits.host_memory", recorder::kLeastMemory,
              [](Spec& s) -> std::uint64_t& { return s.limits.host_memory; }, "memory of the recording per process"),
          "PROFSHIM_MEM"),
      window_seconds_row(),
      size_row(
          "limits.trace_size", std::uint64_t{64} << 10, [](Spec& s) -> std::uint64_t& { return s.limits.trace_size; },
          "a window whose trace would be larger, before gzip, is closed"),
      integer_row(
          "limits.total_traces", 1, kAny, +[](Spec& s) -> std::int64_t& { return s.limits.total_traces; },
          "traces one rank writes in a run"),
      integer_row(
          "limits.memory_entries", 0, kAny, +[](Spec& s) -> std::int64_t& { return s.limits.memory_entries; },
          "allocations and releases of PyTorch's that a trace shows at most: the newest are left out, and counted"),
      size_row(
          "limits.disk_free", 0, [](Spec& s) -> std::uint64_t& { return s.limits.disk_free; },
          "below this much free disk no window is opened"),
      choice_row<OnLimit>(
          "limits.on_limit",
          {{"close_window", OnLimit::kCloseWindow}, {"drop_new", OnLimit::kDropNew}, {"drop_old", OnLimit::kDropOld}},
          [](Spec& s) -> OnLimit& { return s.limits.on_limit; },
          "when memory is full: close the window and save it, or drop the newest or oldest events"),
      text_row(
          "limits.spool_folder", "path", [](Spec& s) -> std::string& { return s.limits.spool_folder; },
          "where a rank keeps its events until they are written; empty = /dev/shm. A disk that fills may end the job "
          "(SIGBUS) where it copies on write, and one that stalls may stall the job"),

      with_short_forms(
          text_row(
              "output.folder", "path with variables", [](Spec& s) -> std::string& { return s.output.folder; },
              "where the traces go; a relative path starts at the folder the job is started in", check_folder),
          "PROFSHIM_FOLDER, --folder"),
      text_row(
          "output.filename", "name with variables", [](Spec& s) -> std::string& { return s.output.filename; },
          "name of a trace inside the folder; sub-folders are allowed", check_filename),
      export_row(),
      choice_row<Gzip>(
          "output.gzip", {{"false", Gzip::kNo}, {"true", Gzip::kYes}, {"auto", Gzip::kAuto}},
          [](Spec& s) -> Gzip& { return s.output.gzip; },
          "compress traces (.gz is added to the name); auto = large traces only", {}, true),
      integer_row(
          "output.gzip_level", 1, 9, +[](Spec& s) -> int& { return s.output.gzip_level; }, "1 = fast, 9 = small"),
      choice_row<Overwrite>(
          "output.overwrite", {{"false", Overwrite::kNo}, {"true", Overwrite::kYes}, {"new", Overwrite::kNew}},
          [](Spec& s) -> Overwrite& { return s.output.overwrite; },
          "a folder that holds traces of another run: refuse, replace, or make a numbered sibling", {}, true),
      integer_row(
          "output.niceness", 0, 19, +[](Spec& s) -> int& { return s.output.niceness; },
          "nice value of the thread that writes"),
      boolean_row(
          "output.arguments", [](Spec& s) -> bool& { return s.output.arguments; },
          "the job's arguments in its traces, secrets masked; false: the program alone"),
      integer_row(
          "output.exit_seconds", 0, 3600, +[](Spec& s) -> std::int64_t& { return s.output.exit_seconds; },
          "how long SIGTERM and the like, exec*() and daemon() may wait for the trace; 0 = they are left alone"),

      integer_row(
          "check.min_traces", 0, kAny, +[](Spec& s) -> std::int64_t& { return s.check.min_traces; },
          "`profshim compare --spec`: so many traces there must be at least"),
      text_row(
          "check.ranks", "rank expression", [](Spec& s) -> std::string& { return s.check.ranks; },
          "likewise: these ranks must have a trace; empty = any", check_ranks),
      boolean_row(
          "check.complete", [](Spec& s) -> bool& { return s.check.complete; },
          "likewise: no trace may have been cut by the end of the job or have lost events"),
      check_rule_row(),

      text_row(
          "debug.cupti_dump", "path", [](Spec& s) -> std::string& { return s.cupti_dump; },
          "a folder for the buffers that CUPTI delivers, as they are: for whoever works on profshim; empty = none"),
  };
  const Spec defaults;
  for (KeyRow& row : rows) {
    if (row.print) row.default_value = row.print(defaults);
  }
  return rows;
}

}  // namespace

const std::vector<KeyRow>& key_rows() {
  static const auto& kRows = *new std::vector<KeyRow>(make_rows());
  return kRows;
}

const KeyRow* find_row(std::string_view key) {
  const auto& rows = key_rows();
  const auto found = std::find_if(rows.begin(), rows.end(), [&](const KeyRow& row) { return row.key == key; });
  return found == rows.end() ? nullptr : &*found;
}

std::string_view table_of(std::string_view key) {
  const std::size_t dot = key.find('.');
  return dot == std::string_view::npos ? std::string_view{} : key.substr(0, dot);
}

bool is_cycle_key(std::string_view key) {
  for (const std::string_view name : {"skip_first", "wait", "warmup", "active", "repeat", "skip_first_wait"}) {
    if (table_of(key) == "schedule" && key.substr(key.find('.') + 1) == name) return true;
  }
  return false;
}

}  // namespace profshim::spec

namespace profshim {

const std::vector<KeyInfo>& spec_keys() {
  static const auto& kKeys = *[] {
    auto& keys = *new std::vector<KeyInfo>;
    for (const spec::KeyRow& row : spec::key_rows()) {
      keys.push_back({row.key, row.type, row.values, row.default_value, row.short_forms, row.sentence});
    }
    return &keys;
  }();
  return kKeys;
}

}  // namespace profshim
