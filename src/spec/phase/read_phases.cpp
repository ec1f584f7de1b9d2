#include "read_phases.h"

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>
#include <utility>

#include "phase_settings.h"
#include "profshim/base/text/message_text.h"
#include "spec/spec_keys.h"

namespace profshim::spec {
namespace {

constexpr double kMostSeconds = 31536000;  // a year

bool refuse(Refusal& refusal, const Value& at, std::string message, std::string hint) {
  refusal = {std::move(message), std::move(hint), at.line, at.column};
  return false;
}
/// Puts the name of `value` before the message of a read_...() function.
bool refuse_as_read(Refusal& refusal, const Value& value, std::string_view name) {
  return refuse(refusal, value, std::string(name) + " " + refusal.message, refusal.hint);
}

std::optional<PhaseSource> source_of_key(std::string_view key) {
  const auto* const at = std::find(kPhaseSourceKeys.begin(), kPhaseSourceKeys.end(), key);
  if (at == kPhaseSourceKeys.end()) return {};
  return static_cast<PhaseSource>(at - kPhaseSourceKeys.begin());
}

bool unknown_key(Refusal& refusal, const Value& value, std::string_view table,
                 const std::vector<std::string_view>& known) {
  std::string all;
  for (const std::string_view name : known) all += (all.empty() ? "" : ", ") + std::string(name);
  const std::string_view near = nearest(value.name, known);
  return refuse(refusal, value, std::string(table) + " has no key " + quoted(value.name),
                near.empty() ? "known here: " + all : "did you mean " + std::string(near) + "?");
}

/// Reads a setting by the row of the top-level key TABLE.NAME, into `scratch`.
bool read_as_top_level(const Value& value, std::string_view table, Spec& scratch, Refusal& refusal) {
  const std::string key = std::string(table) + "." + value.name;
  if (find_row(key)->store(value, scratch, refusal)) return true;
  return refuse_as_read(refusal, value, key);
}

class PhaseReader {
 public:
  PhaseReader(const Value& table, PhaseSpec& phase, Refusal& refusal)
      : table_(table), phase_(phase), refusal_(refusal) {}

  bool read() {
    if (table_.kind != Value::Kind::kTable) {
      return refuse(refusal_, table_, "an entry must be a table, not " + std::string(describe_kind(table_)),
                    "write [[phase]]");
    }
    for (const Value& member : table_.items) {
      if (!read_member(member)) return false;
    }
    if (phase_.name.empty()) return refuse(refusal_, table_, "name is missing", "write name = \"rollout\"");
    if (source_ == nullptr) {
      return refuse(refusal_, table_, "the phase " + quoted(phase_.name) + " names no ranges",
                    "write nvtx = \"rollout*\", or torch, symbol, python, kernel or thread instead of nvtx");
    }
    if (only_windows_ != nullptr && !phase_.has_windows) {
      return refuse(refusal_, *only_windows_, only_windows_->name + " has no effect with mode = \"mark\"",
                    "write mode = \"window\", or remove " + only_windows_->name);
    }
    return true;
  }

 private:
  bool read_member(const Value& member) {
    const std::string_view key = member.name;
    if (key == "name") return read_name(member);
    if (source_of_key(key)) return read_source(member);
    if (key == "mode") return read_mode(member);
    if (key == "max_seconds") return read_max_seconds(member);
    if (key == "ranks") return read_ranks(member);
    if (key == "steps" || key == "schedule" || key == "limits" || key == "capture") {
      if (member.kind != Value::Kind::kTable) {
        return refuse(refusal_, member,
                      std::string(key) + " must be a table, not " + std::string(describe_kind(member)),
                      "write " + std::string(key) + " = { ... }");
      }
      if (only_windows_ == nullptr) only_windows_ = &member;
      if (key == "capture") return read_capture(member);
      return key == "steps" ? read_ticks(member) : key == "schedule" ? read_schedule(member) : read_limits(member);
    }
    return refuse_key(member);
  }

  bool refuse_key(const Value& member) {
    if (member.name == "record_function")
      return refuse(refusal_, member, "a phase has no key \"record_function\"", "did you mean torch?");
    return unknown_key(refusal_, member, "a phase",
                       {"name", "nvtx", "torch", "symbol", "python", "kernel", "thread", "mode", "max_seconds", "ranks",
                        "steps", "schedule", "limits", "capture"});
  }

  bool read_word(const Value& value, std::string& text) {
    if (!read_text(value, text, refusal_)) return refuse_as_read(refusal_, value, value.name);
    return !text.empty() || refuse(refusal_, value, value.name + " is empty", "");
  }

  bool read_name(const Value& value) {
    if (!read_word(value, phase_.name)) return false;
    if (phase_.name == "step") {
      return refuse(refusal_, value, "name \"step\" is what {phase} becomes for windows of steps",
                    "choose another name");
    }
    if (phase_.name.size() <= 100 && phase_.name.find_first_of("/,") == std::string::npos) return true;
    return refuse(refusal_, value,
                  "name must have at most 100 bytes and neither \"/\" nor \",\": it becomes part of file names", "");
  }

  bool read_source(const Value& value) {
    if (source_ != nullptr) {
      return refuse(refusal_, value, value.name + " cannot be given together with " + source_->name,
                    "a phase has one kind of range; write two phases, or remove one");
    }
    source_ = &value;
    phase_.ranges_of.source = *source_of_key(value.name);
    return read_word(value, phase_.ranges_of.pattern);
  }

  bool read_mode(const Value& value) {
    std::string mode;
    if (!read_word(value, mode)) return false;
    phase_.has_windows = mode == "window";
    if (mode == "window" || mode == "mark") return true;
    return refuse(refusal_, value, "unknown mode " + quoted(mode), "allowed: mark, window");
  }

  bool read_max_seconds(const Value& value) {
    if (!read_number(value, phase_.max_seconds, refusal_)) return refuse_as_read(refusal_, value, value.name);
    if (phase_.max_seconds > 0 && phase_.max_seconds <= kMostSeconds) return true;
    return refuse(refusal_, value, "max_seconds is out of range", "allowed: more than 0, up to a year (31536000)");
  }

  bool read_ranks(const Value& value) {
    std::string text;
    if (!read_word(value, text)) return false;
    int column = 0;
    if (!phase_.ranks.emplace().parse(text, refusal_.message, column))
      return refuse_as_read(refusal_, value, value.name);
    return !phase_.ranks->selects_nobody() || refuse(refusal_, value, "ranks selects no rank in any job", "");
  }

  bool read_ticks(const Value& table) {
    PhaseSpec::Ranges& ticks = *(phase_.ticks = PhaseSpec::Ranges());
    for (const Value& member : table.items) {
      if (member.name == "pattern") {
        if (!read_word(member, ticks.pattern)) return false;
      } else if (member.name == "source") {
        std::string source;
        if (!read_word(member, source)) return false;
        const std::optional<PhaseSource> known = source_of_key(source);
        if (!known || *known == PhaseSource::kThread) {
          return refuse(refusal_, member, "steps of a phase cannot come from " + quoted(source),
                        "allowed: nvtx, torch, symbol, python, kernel");
        }
        ticks.source = *known;
      } else {
        return unknown_key(refusal_, member, "steps of a phase", {"source", "pattern"});
      }
    }
    return !ticks.pattern.empty() || refuse(refusal_, table, "steps has no pattern",
                                            "write steps = { source = \"nvtx\", pattern = \"micro_batch*\" }");
  }

  bool read_schedule(const Value& table) {
    PhaseSpec::GivenSchedule& given = phase_.schedule;
    Spec scratch;
    for (const Value& member : table.items) {
      const auto setting = std::find_if(kCycleSettings.begin(), kCycleSettings.end(),
                                        [&](const CycleSetting& one) { return one.name == member.name; });
      const bool is_cycle = setting != kCycleSettings.end();
      if (!is_cycle && member.name != "steps" && member.name != "continuous") {
        return unknown_key(
            refusal_, member, "schedule of a phase",
            {"skip_first", "wait", "warmup", "active", "repeat", "skip_first_wait", "steps", "continuous"});
      }
      if (!read_as_top_level(member, "schedule", scratch, refusal_)) return false;
      if (is_cycle) given.*setting->given = scratch.schedule.*setting->top;
      if (member.name == "steps") given.steps = scratch.schedule.steps;
      if (member.name == "continuous") given.continuous = scratch.schedule.continuous;
    }
    if (given.steps.empty() || !gives_cycle(given)) return true;
    return refuse(refusal_, table, "schedule cannot be a list of steps and a cycle", "remove one of the two");
  }

  bool read_limits(const Value& table) {
    Spec scratch;
    for (const Value& member : table.items) {
      if (member.name != "window_seconds" && member.name != "total_traces") {
        if (find_row("limits." + member.name) != nullptr) {
          return refuse(refusal_, member, "a phase cannot have its own limits." + member.name,
                        "set it in the top-level [limits]; a phase can have window_seconds and total_traces");
        }
        return unknown_key(refusal_, member, "limits of a phase", {"window_seconds", "total_traces"});
      }
      if (!read_as_top_level(member, "limits", scratch, refusal_)) return false;
      if (member.name == "window_seconds") phase_.limits.window_seconds = scratch.limits.window_seconds;
      if (member.name == "total_traces") phase_.limits.total_traces = scratch.limits.total_traces;
    }
    return true;
  }

  /// Returns false if no setting of `settings` has this name. `is_read`: the value could be read.
  template <class Settings>
  bool read_detail(const Value& member, const Settings& settings, bool& is_read) {
    for (const auto& setting : settings) {
      if (setting.name != member.name) continue;
      Spec scratch;
      is_read = read_as_top_level(member, "capture", scratch, refusal_);
      if (is_read) phase_.capture.*setting.given = scratch.*setting.top;
      return true;
    }
    return false;
  }

  bool read_capture(const Value& table) {
    for (const Value& member : table.items) {
      bool is_read = false;
      if (read_detail(member, kDetailFlags, is_read) || read_detail(member, kDetailNumbers, is_read)) {
        if (!is_read) return false;
        continue;
      }
      if (find_row("capture." + member.name) != nullptr) {
        return refuse(refusal_, member, "a phase cannot have its own capture." + member.name,
                      "set it in the top-level [capture]");
      }
      return unknown_key(
          refusal_, member, "capture of a phase",
          {"record_shapes", "with_flops", "with_stack", "native_stack", "with_modules", "stack_every", "stack_depth"});
    }
    return true;
  }

  const Value& table_;
  PhaseSpec& phase_;
  Refusal& refusal_;
  const Value* source_ = nullptr;
  const Value* only_windows_ = nullptr;  // a key that only windows use
};

}  // namespace

bool read_phases(const Value& value, std::vector<PhaseSpec>& phases, Refusal& refusal) {
  if (value.loose || value.kind != Value::Kind::kList) {
    refusal.message = value.loose ? "can be given in a spec file only"
                                  : "must be a list of tables, not " + std::string(describe_kind(value));
    refusal.hint = value.loose ? "" : "write [[phase]]";
    return false;
  }
  if (value.items.size() > kMostPhases) return refuse(refusal, value, "a spec can have at most 32 phases", "");
  std::vector<PhaseSpec> read;
  for (const Value& table : value.items) {
    PhaseSpec phase;
    if (!PhaseReader(table, phase, refusal).read()) return false;
    const auto same = [&](const PhaseSpec& other) { return other.name == phase.name; };
    if (std::any_of(read.begin(), read.end(), same))
      return refuse(refusal, table, "two phases have the name " + quoted(phase.name), "rename one of them");
    read.push_back(std::move(phase));
  }
  phases = std::move(read);
  return true;
}

}  // namespace profshim::spec
