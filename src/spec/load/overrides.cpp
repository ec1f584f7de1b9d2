#include "overrides.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "profshim/base/text/message_text.h"
#include "spec/override_text.h"

namespace profshim::spec {
namespace {

struct ShortForm {
  std::string_view name, key;
};
constexpr std::array<ShortForm, 12> kShortVariables = {{{"PROFSHIM", "profile.enable"},
                                                        {"PROFSHIM_RANKS", "ranks.select"},
                                                        {"PROFSHIM_STEPS", "schedule.steps"},
                                                        {"PROFSHIM_FOLDER", "output.folder"},
                                                        {"PROFSHIM_ACTIVITIES", "capture.activities"},
                                                        {"PROFSHIM_SHAPES", "capture.record_shapes"},
                                                        {"PROFSHIM_STACK", "capture.with_stack"},
                                                        {"PROFSHIM_MEMORY", "capture.profile_memory"},
                                                        {"PROFSHIM_TABLE", "summary.table"},
                                                        {"PROFSHIM_MEM", "limits.host_memory"},
                                                        {"PROFSHIM_RUN_NAME", "profile.run_name"},
                                                        {"PROFSHIM_ROLE", "process.role"}}};
constexpr std::array<ShortForm, 4> kShortOptions = {{{"--ranks", "ranks.select"},
                                                     {"--steps", "schedule.steps"},
                                                     {"--folder", "output.folder"},
                                                     {"--run-name", "profile.run_name"}}};
constexpr std::array<std::string_view, 7> kOther = {"PROFSHIM_SPEC",        "PROFSHIM_ACTIVE",  "PROFSHIM_NVTX_CHAIN",
                                                    "PROFSHIM_NCCL_PLUGIN", "PROFSHIM_LIBRARY", "PROFSHIM_CUPTI",
                                                    "PROFSHIM_DLSYM"};

Given make_given(std::string key, std::string value, const std::string& source) {
  Given given;
  given.key = std::move(key);
  given.value = loose_text(std::move(value));
  given.file = source;
  given.origin = source;
  given.overridden = true;
  return given;
}

Problem make_problem(const std::string& source, std::string message, std::string hint = {}) {
  Problem problem;
  problem.file = source;
  problem.message = std::move(message);
  problem.hint = std::move(hint);
  return problem;
}

/// Does not unquote texts: a folder may begin with a quote.
Given short_form(std::string_view key, const std::string& value, const std::string& source) {
  constexpr std::array<std::string_view, 6> kTexts = {"ranks.select", "output.folder",     "profile.run_name",
                                                      "process.role", "profile.log_level", "profile.log"};
  Given given = make_given(std::string(key), value, source);
  if (std::find(kTexts.begin(), kTexts.end(), key) != kTexts.end()) given.value.loose = false;
  return given;
}

bool is_level(std::string_view word) {
  constexpr std::array<std::string_view, 5> kLevels = {"quiet", "error", "warn", "info", "debug"};
  return std::find(kLevels.begin(), kLevels.end(), word) != kLevels.end();
}

Problem unknown_variable(const std::string& name) {
  // The common prefix would make all names similar.
  constexpr std::string_view kPrefix = "PROFSHIM_";
  std::vector<std::string_view> known = {"SET", "LOG", "SPEC"};
  for (const ShortForm& form : kShortVariables) {
    if (form.name.starts_with(kPrefix)) known.push_back(form.name.substr(kPrefix.size()));
  }
  const std::string_view near = nearest(name.substr(std::min(name.size(), kPrefix.size())), known);
  Problem problem = make_problem("environment", "unknown variable " + name.substr(0, 80),
                                 near.empty() ? "keys are set with PROFSHIM_SET=\"key=value\""
                                              : "did you mean " + std::string(kPrefix) + std::string(near) + "?");
  problem.severity = Problem::Severity::kWarning;
  return problem;
}

template <std::size_t N>
const ShortForm* find_form(const std::array<ShortForm, N>& forms, std::string_view name) {
  const auto found = std::find_if(forms.begin(), forms.end(), [&](const ShortForm& form) { return form.name == name; });
  return found == forms.end() ? nullptr : &*found;
}

}  // namespace

Overrides read_overrides(const std::vector<std::pair<std::string, std::string>>& environment,
                         const std::vector<std::pair<std::string, std::string>>& options) {
  Overrides out;
  std::vector<Given> set, variables, short_options, set_options;
  for (const auto& [name, value] : environment) {
    if (std::find(kOther.begin(), kOther.end(), name) != kOther.end()) continue;
    out.any_variable = true;
    if (const ShortForm* const form = find_form(kShortVariables, name)) {
      variables.push_back(short_form(form->key, value, name));
    } else if (name == "PROFSHIM_LOG") {
      variables.push_back(short_form(is_level(value) ? "profile.log_level" : "profile.log", value, name));
    } else if (name == "PROFSHIM_SET") {
      std::vector<Assignment> assignments;
      std::string message;
      if (!split_assignments(value, assignments, message)) {
        out.problems.push_back(make_problem(name, message, "write key=value, separated by blanks"));
      }
      for (Assignment& a : assignments) set.push_back(make_given(std::move(a.key), std::move(a.value), name));
    } else {
      out.problems.push_back(unknown_variable(name));
    }
  }
  for (const auto& [name, value] : options) {
    Assignment assignment;
    std::string message;
    if (const ShortForm* const form = find_form(kShortOptions, name)) {
      short_options.push_back(short_form(form->key, value, name));
    } else if (name != "--set") {
      out.problems.push_back(make_problem(name, "unknown option"));
    } else if (split_assignment(value, assignment, message)) {
      set_options.push_back(make_given(std::move(assignment.key), std::move(assignment.value), name));
    } else {
      out.problems.push_back(make_problem(name, message, "write --set key=value"));
    }
  }
  // All options are one layer, so that --steps and --set schedule.active=... contradict each other.
  short_options.insert(short_options.end(), set_options.begin(), set_options.end());
  out.layers = {std::move(set), std::move(variables), std::move(short_options)};
  return out;
}

}  // namespace profshim::spec
