#include <array>
#include <cmath>
#include <optional>
#include <string_view>
#include <utility>

#include "checks.h"
#include "profshim/base/text/message_text.h"
#include "profshim/base/text/number_text.h"

namespace profshim {
namespace {

constexpr std::array kMetrics = {
    std::pair{CheckMetric::kLaunches, std::string_view("launches_per_step")},
    std::pair{CheckMetric::kKernels, std::string_view("kernels_per_step")},
    std::pair{CheckMetric::kCalls, std::string_view("calls_per_step")},
    std::pair{CheckMetric::kMpiBytes, std::string_view("mpi_bytes_per_step")},
    std::pair{CheckMetric::kStepUs, std::string_view("step_us")},
    std::pair{CheckMetric::kKernelUs, std::string_view("kernel_us")},
    std::pair{CheckMetric::kCallUs, std::string_view("call_us")},
    std::pair{CheckMetric::kCommunication, std::string_view("communication_us")},
};

constexpr bool takes_name(CheckMetric metric) {
  return metric == CheckMetric::kKernels || metric == CheckMetric::kCalls || metric == CheckMetric::kKernelUs ||
         metric == CheckMetric::kCallUs;
}

}  // namespace

std::string_view to_text(CheckMetric metric) {
  for (const auto& [value, name] : kMetrics) {
    if (value == metric) return name;
  }
  return "";
}

namespace spec {
namespace {

bool refuse(Refusal& refusal, const Value& at, std::string message, std::string hint) {
  refusal = {std::move(message), std::move(hint), at.line, at.column};
  return false;
}

bool read_metric(const Value& value, CheckMetric& metric, Refusal& refusal) {
  std::string text;
  if (!read_text(value, text, refusal)) return refuse(refusal, value, "metric " + refusal.message, refusal.hint);
  std::vector<std::string_view> names;
  std::string all;
  for (const auto& [one, name] : kMetrics) {
    if (text == name) {
      metric = one;
      return true;
    }
    names.push_back(name);
    all += (all.empty() ? "" : ", ") + std::string(name);
  }
  const std::string_view near = nearest(text, names);
  return refuse(refusal, value, quoted(text) + " is not a metric",
                near.empty() ? "allowed: " + all : "did you mean \"" + std::string(near) + "\"?");
}

bool read_limit(const Value& value, std::optional<double>& limit, Refusal& refusal) {
  double number = 0;
  if (!read_number(value, number, refusal)) {
    return refuse(refusal, value, value.name + " " + refusal.message, refusal.hint);
  }
  if (!std::isfinite(number) || number < 0) return refuse(refusal, value, value.name + " must be 0 or more", "");
  limit = number;
  return true;
}

bool read_word(const Value& value, std::string& text, Refusal& refusal) {
  if (!read_text(value, text, refusal)) {
    return refuse(refusal, value, value.name + " " + refusal.message, refusal.hint);
  }
  if (text.empty()) return refuse(refusal, value, value.name + " is empty", "remove it");
  return true;
}

bool read_rule(const Value& table, CheckRule& rule, Refusal& refusal) {
  if (table.kind != Value::Kind::kTable) {
    return refuse(refusal, table, "an entry must be a table, not " + std::string(describe_kind(table)),
                  "write [[check.rule]]");
  }
  rule.line = table.line;
  const Value *metric = nullptr, *name = nullptr, *min = nullptr, *tolerance = nullptr;
  for (const Value& member : table.items) {
    if (member.name == "metric") {
      metric = &member;
      if (!read_metric(member, rule.metric, refusal)) return false;
    } else if (member.name == "name") {
      name = &member;
      if (!read_word(member, rule.name, refusal)) return false;
    } else if (member.name == "phase") {
      if (!read_word(member, rule.phase, refusal)) return false;
    } else if (member.name == "baseline") {
      if (!read_word(member, rule.baseline, refusal)) return false;
    } else if (member.name == "min") {
      min = &member;
      if (!read_limit(member, rule.min, refusal)) return false;
    } else if (member.name == "max") {
      if (!read_limit(member, rule.max, refusal)) return false;
    } else if (member.name == "tolerance") {
      tolerance = &member;
      if (!read_limit(member, rule.tolerance, refusal)) return false;
    } else {
      const std::string_view near =
          nearest(member.name, {"metric", "name", "phase", "min", "max", "baseline", "tolerance"});
      return refuse(refusal, member, "a rule has no key " + quoted(member.name),
                    near.empty() ? "known here: metric, name, phase, min, max, baseline, tolerance"
                                 : "did you mean " + std::string(near) + "?");
    }
  }
  if (metric == nullptr) return refuse(refusal, table, "metric is missing", "write metric = \"launches_per_step\"");
  if (name != nullptr && !takes_name(rule.metric)) {
    return refuse(refusal, *name, "name has no effect with metric = \"" + std::string(to_text(rule.metric)) + "\"",
                  "remove it");
  }
  if (rule.min && rule.max && *rule.min > *rule.max) return refuse(refusal, *min, "min is larger than max", "");
  if (tolerance != nullptr && rule.baseline.empty()) {
    return refuse(refusal, *tolerance, "tolerance needs a baseline", "write baseline = \"ci/baseline.json\"");
  }
  if (!rule.min && !rule.max && rule.baseline.empty()) {
    return refuse(refusal, table, "the rule allows everything", "write min, max or baseline");
  }
  return true;
}

std::string number_text(double value) {
  const std::string digits = exact_text(value);
  // A TOML integer has 64 bits; larger limits are floats.
  return value < 9e15 || digits.find('.') != std::string::npos ? digits : digits + ".0";
}

}  // namespace

bool read_check_rules(const Value& value, std::vector<CheckRule>& rules, Refusal& refusal) {
  if (value.loose || value.kind != Value::Kind::kList) {
    refusal.message = value.loose ? "can be given in a spec file only"
                                  : "must be a list of tables, not " + std::string(describe_kind(value));
    refusal.hint = value.loose ? "" : "write [[check.rule]]";
    return false;
  }
  std::vector<CheckRule> read;
  for (const Value& table : value.items) {
    if (!read_rule(table, read.emplace_back(), refusal)) return false;
  }
  rules = std::move(read);
  return true;
}

std::string check_rules_to_toml(const std::vector<CheckRule>& rules) {
  std::string out = "[";
  for (const CheckRule& rule : rules) {
    out += std::string(out.size() > 1 ? ", " : "") + "{ metric = " + toml_string(to_text(rule.metric));
    if (!rule.name.empty()) out += ", name = " + toml_string(rule.name);
    if (!rule.phase.empty()) out += ", phase = " + toml_string(rule.phase);
    if (rule.min) out += ", min = " + number_text(*rule.min);
    if (rule.max) out += ", max = " + number_text(*rule.max);
    if (!rule.baseline.empty()) out += ", baseline = " + toml_string(rule.baseline);
    if (rule.tolerance) out += ", tolerance = " + number_text(*rule.tolerance);
    out += " }";
  }
  return out + "]";
}

}  // namespace spec
}  // namespace profshim
