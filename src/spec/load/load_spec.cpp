#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <set>
#include <tuple>

#include "overrides.h"
#include "profshim/base/files.h"
#include "profshim/base/text/message_text.h"
#include "profshim/spec.h"
#include "spec/check/checks.h"
#include "spec/combine.h"
#include "spec/phase/read_phases.h"
#include "spec/retired_keys.h"
#include "spec/spec_keys.h"
#include "spec/step_list.h"
#include "spec/toml/document.h"

namespace profshim {
namespace spec {
namespace {

constexpr std::size_t kMostFiles = 64;
constexpr std::size_t kDeepestInclude = 16;

std::string folder_of(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  return slash == std::string::npos ? "" : path.substr(0, slash + 1);
}

std::string identity_of(const std::string& path) {
  char* const real = realpath(path.c_str(), nullptr);
  std::string out = real != nullptr ? real : path;
  std::free(real);
  return out;
}

std::string read_spec_file(const std::string& path, std::string& text) {
  struct stat s;
  if (stat(path.c_str(), &s) != 0) return std::string("cannot be read: ") + error_text(errno);
  if (S_ISDIR(s.st_mode)) return "is a folder, not a spec";
  if (!S_ISREG(s.st_mode)) return "is not a regular file";
  if (s.st_size > static_cast<off_t>(kLargestSpec))
    return "is larger than 128 KiB, the limit of a spec; is this file a spec?";
  int error = 0;
  return read_file(path, text, error) ? "" : std::string("cannot be read: ") + error_text(error);
}

class Loader {
 public:
  explicit Loader(LoadedSpec& out) : out_(out) {}

  void file(const std::string& path) { settings_ = layer_of_file(path, nullptr); }
  void text(std::string_view toml, const std::string& name) { settings_ = layer_of_text(toml, name, false); }
  void overrides(const Overrides& overrides) {
    out_.problems.insert(out_.problems.end(), overrides.problems.begin(), overrides.problems.end());
    for (const std::vector<Given>& layer : overrides.layers) {
      apply(settings_, accepted(layer), CombineMode::kOverride, out_.problems);
    }
  }
  void finish() {
    for (const KeyRow& row : key_rows()) {
      Refusal refusal;
      if (const auto at = settings_.find(row.key); at != settings_.end())
        row.store(at->second.value, out_.spec, refusal);
    }
    use_every_profiler_range();
    complete_cycles(out_.spec.phases, settings_.contains("schedule.skip_first"), settings_.contains("schedule.warmup"));
    if (out_.spec.schedule.continuous) merge_adjacent(out_.spec.schedule.steps);
    check_whole(out_.spec, settings_, out_.problems);
    note_origins();
    tidy_problems();
  }

 private:
  void add_error(const std::string& file, int line, int column, std::string key, std::string message,
                 std::string hint) {
    Problem problem;
    problem.file = file;
    problem.line = line;
    problem.column = column;
    problem.key = std::move(key);
    problem.message = std::move(message);
    problem.hint = std::move(hint);
    out_.problems.push_back(std::move(problem));
  }
  void add_error(const Given& at, std::string message, std::string hint) {
    add_error(at.file, at.value.line, at.value.column, at.key, std::move(message), std::move(hint));
  }

  void add_warning(const Given& at, std::string message, std::string hint) {
    add_error(at, std::move(message), std::move(hint));
    out_.problems.back().severity = Problem::Severity::kWarning;
  }

  std::vector<Given> accepted(const std::vector<Given>& given) {
    std::vector<Given> out;
    Spec scratch;
    for (const Given& one : given) {
      Refusal refusal;
      const KeyRow* const row = find_row(one.key);
      if (const RetiredKey* const retired = find_retired(one.key); retired != nullptr) {
        if (retired->is_true(one.value, refusal))
          add_warning(one, retired->why, retired->hint);
        else
          add_error(one, refusal.message, refusal.hint);
      } else if (row == nullptr) {
        add_error(one, "unknown key", hint_for_unknown(one.key));
      } else if (one.overridden && !row->print) {
        add_error(one, "can be given in a spec file only", "");
      } else if (row->store(one.value, scratch, refusal)) {
        out.push_back(one);
      } else {
        const bool own_place = refusal.line > 0 || refusal.column > 0;
        add_error(one.file, own_place && refusal.line > 0 ? refusal.line : one.value.line,
                  own_place ? refusal.column : one.value.column, one.key, refusal.message, refusal.hint);
      }
    }
    return out;
  }
  static std::string hint_for_unknown(const std::string& key) {
    std::vector<std::string_view> names;
    for (const KeyRow& row : key_rows()) {
      if (row.key.substr(row.key.rfind('.') + 1) == key) return "did you mean " + row.key + "?";
      names.push_back(row.key);
    }
    const std::string_view near = nearest(key, names);
    return near.empty() ? "`profshim keys` lists all keys" : "did you mean " + std::string(near) + "?";
  }

  Settings layer_of_file(const std::string& path, const Given* included_by) {
    const auto refuse = [&](const std::string& why) {
      if (included_by != nullptr) {
        add_error(*included_by, quoted(path) + " " + why, "");
      } else {
        add_error(path, 0, 0, "", why, "");
      }
      return Settings{};
    };
    const std::string identity = identity_of(path);
    if (std::find(open_files_.begin(), open_files_.end(), identity) != open_files_.end())
      return refuse("includes itself");
    if (open_files_.size() >= kDeepestInclude) return refuse("is not read: includes may be at most 16 deep");
    if (++files_read_ > kMostFiles) return refuse("is not read: a spec may include at most 64 files");
    std::string text;
    if (const std::string why = read_spec_file(path, text); !why.empty()) return refuse(why);
    open_files_.push_back(identity);
    Settings settings = layer_of_text(text, path, true);
    open_files_.pop_back();
    return settings;
  }

  Settings layer_of_text(std::string_view text, const std::string& name, bool may_include) {
    Document document = read_document(text, name);
    const bool readable = !document.given.empty() || document.problems.empty();
    out_.problems.insert(out_.problems.end(), document.problems.begin(), document.problems.end());
    if (!readable && !has_unknown_key(document)) return {};
    const auto is_version = [](const Given& g) { return g.key == "version"; };
    if (std::none_of(document.given.begin(), document.given.end(), is_version)) {
      add_error(name, 1, 1, "version", "missing", "write version = 1 as the first line");
    }
    std::vector<Given> own = accepted(document.given);

    Settings settings;
    CombineMode mode = CombineMode::kOverride;
    std::vector<std::string> files;
    const Given* include = nullptr;
    for (const Given& given : own) {
      if (given.key == "include.combine" && given.value.text == "union") mode = CombineMode::kUnion;
      if (given.key == "include.combine" && given.value.text == "intersection") mode = CombineMode::kIntersection;
      if (given.key == "include.files") include = &given;
    }
    for (const Value& file : include != nullptr ? include->value.items : std::vector<Value>{}) {
      if (!may_include) {
        add_error(*include, "can be given in a spec file only", "");
        break;
      }
      const std::string path = file.text.starts_with("/") ? file.text : folder_of(name) + file.text;
      const Settings included = layer_of_file(path, include);
      std::vector<Given> layer;
      for (const auto& [key, given] : included) layer.push_back(given);
      apply(settings, layer, mode, out_.problems);
    }
    // Drops version and include.*: a file that includes this one must not inherit them.
    std::erase_if(own, [](const Given& given) { return !find_row(given.key)->print; });
    apply(settings, own, mode, out_.problems);
    return settings;
  }
  /// A text with an unknown key is TOML without syntax errors.
  static bool has_unknown_key(const Document& document) {
    return std::any_of(document.problems.begin(), document.problems.end(),
                       [](const Problem& p) { return !p.key.empty(); });
  }

  /// Without a schedule, records every cudaProfilerStart range: the job chooses these ranges.
  void use_every_profiler_range() {
    Schedule& schedule = out_.spec.schedule;
    if (out_.spec.steps.source != StepSource::kCudaProfilerApi || !schedule.steps.empty()) return;
    const auto unless_given = [this](const char* key, std::int64_t& value, std::int64_t every_range) {
      if (settings_.count(key) == 0) value = every_range;
    };
    unless_given("schedule.skip_first", schedule.skip_first, 0);
    unless_given("schedule.warmup", schedule.warmup, 0);
    unless_given("schedule.active", schedule.active, 1);
    unless_given("schedule.repeat", schedule.repeat, 0);
  }

  void note_origins() {
    for (const KeyRow& row : key_rows()) {
      if (!row.print) continue;
      LoadedSpec::Origin origin{row.key, row.print(out_.spec), "default"};
      if (const auto at = settings_.find(row.key); at != settings_.end()) {
        origin.origin = at->second.origin;
        origin.overridden = at->second.overridden;
      }
      if (!out_.spec.schedule.steps.empty() && is_cycle_key(row.key))
        origin.origin = "not used: schedule.steps is given";
      if (origin.origin == "default" && out_.spec.steps.source == StepSource::kCudaProfilerApi && is_cycle_key(row.key))
        origin.origin = "default with steps.source = \"cuda_profiler_api\"";
      out_.origins.push_back(std::move(origin));
    }
  }

  void tidy_problems() {
    std::vector<Problem>& problems = out_.problems;
    std::set<std::string> said;
    std::erase_if(problems, [&](const Problem& problem) { return !said.insert(to_line(problem)).second; });
    std::vector<std::string> files;
    const auto rank = [&](const Problem& problem) {
      const auto at = std::find(files.begin(), files.end(), problem.file) - files.begin();
      return std::tuple(problem.severity, at, problem.line, problem.column);
    };
    for (const Problem& problem : problems) {
      if (std::find(files.begin(), files.end(), problem.file) == files.end()) files.push_back(problem.file);
    }
    std::stable_sort(problems.begin(), problems.end(),
                     [&](const Problem& a, const Problem& b) { return rank(a) < rank(b); });
  }

  LoadedSpec& out_;
  Settings settings_;
  std::vector<std::string> open_files_;
  std::size_t files_read_ = 0;
};

LoadedSpec failed(const char* why) noexcept {
  LoadedSpec loaded;
  Problem problem;
  problem.message = std::string("the spec could not be read: ") + why;
  loaded.problems.push_back(std::move(problem));
  return loaded;
}

}  // namespace
}  // namespace spec

bool LoadedSpec::ok() const {
  return std::none_of(problems.begin(), problems.end(),
                      [](const Problem& problem) { return problem.severity == Problem::Severity::kError; });
}

SpecSources sources_from_environment() {
  SpecSources sources;
  for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
    const std::string_view text = *entry;
    const std::size_t equals = text.find('=');
    if (equals == std::string_view::npos) continue;
    const std::string_view name = text.substr(0, equals), value = text.substr(equals + 1);
    if (name == "PROFSHIM_SPEC") {
      sources.file = value;
    } else if (name == "PROFSHIM" || name.starts_with("PROFSHIM_")) {
      sources.environment.emplace_back(name, value);
    }
  }
  return sources;
}

LoadedSpec load_spec(const SpecSources& sources) try {
  LoadedSpec loaded;
  spec::Loader loader(loaded);
  if (!sources.file.empty()) loader.file(sources.file);
  const spec::Overrides overrides = spec::read_overrides(sources.environment, sources.options);
  loader.overrides(overrides);
  loader.finish();
  const bool asked_for = !sources.file.empty() || overrides.any_variable || !sources.options.empty();
  loaded.enabled = asked_for && loaded.spec.profile.enable;
  return loaded;
} catch (const std::exception& error) {
  return spec::failed(error.what());
}

LoadedSpec load_spec_text(std::string_view toml, const std::string& name) try {
  LoadedSpec loaded;
  spec::Loader loader(loaded);
  loader.text(toml, name);
  loader.finish();
  loaded.enabled = loaded.spec.profile.enable;
  return loaded;
} catch (const std::exception& error) {
  return spec::failed(error.what());
}

}  // namespace profshim
