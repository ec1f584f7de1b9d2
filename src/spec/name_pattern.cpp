#include "profshim/spec/name_pattern.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>

namespace profshim {
namespace {

constexpr std::size_t kLongestValue = 200;  // a file name may have 255 bytes

/// Makes a value such as "../../etc" or "a::b" safe in shells, NFS and Windows.
std::string clean_for_path(std::string_view value) {
  std::string clean;
  if (value == "." || value == "..") return "_";
  for (const char c : value) {
    const auto byte = static_cast<unsigned char>(c);
    const bool unsafe = byte < 0x21 || byte == 0x7f || std::strchr("/\\:*?\"'<>|{}$`&;()[]!#~^", c) != nullptr;
    clean += unsafe ? '_' : c;
  }
  if (!clean.empty() && (clean[0] == '.' || clean[0] == '-')) clean[0] = '_';
  if (clean.size() > kLongestValue) {
    // Cuts between UTF-8 characters: the manifest holds the name as JSON.
    std::size_t end = kLongestValue;
    while (end > kLongestValue - 3 && (static_cast<unsigned char>(clean[end]) & 0xc0) == 0x80) --end;
    clean.resize(end);
  }
  return clean.empty() ? "unknown" : clean;
}

std::string value_of(std::string_view variable, const NameValues& v) {
  if (const auto word = v.words.find(variable); word != v.words.end()) return word->second;
  const auto number = [](std::int64_t n) { return n < 0 ? std::string("unknown") : std::to_string(n); };
  if (variable == "run_name") return v.run_name;
  if (variable == "rank") return number(v.rank.rank);
  if (variable == "local_rank") return number(v.rank.local_rank);
  if (variable == "world_size") return number(v.rank.world_size);
  if (variable == "local_world_size") return number(v.rank.local_world_size);
  if (variable == "node_rank") return number(v.rank.node_rank);
  if (variable == "host") return v.host;
  if (variable == "pid") return std::to_string(v.pid);
  if (variable == "phase") return v.phase.empty() ? "step" : v.phase;
  if (variable == "step" || variable == "first_step") return std::to_string(v.first_step);
  if (variable == "last_step") return std::to_string(v.last_step);
  if (variable == "window") return std::to_string(v.window);
  if (variable == "occurrence") return std::to_string(v.occurrence);
  if (variable == "epoch") return std::to_string(v.epoch);
  if (variable == "time") return std::to_string(v.time_ns / 1000000000);
  if (variable == "time_ns") return std::to_string(v.time_ns);
  if (variable == "job_id") return v.job_id;
  if (variable == "role") return v.rank.role.value_or("").empty() ? "main" : *v.rank.role;
  return {};
}

bool mentions(std::string_view pattern, std::initializer_list<std::string_view> variables) {
  return std::any_of(variables.begin(), variables.end(), [pattern](std::string_view variable) {
    return pattern.find("{" + std::string(variable) + "}") != std::string_view::npos;
  });
}

}  // namespace

std::string expand(std::string_view pattern, const NameValues& values) {
  std::string out;
  for (std::size_t i = 0; i < pattern.size();) {
    const std::size_t close = pattern[i] == '{' ? pattern.find('}', i) : std::string_view::npos;
    if (close == std::string_view::npos) {
      out += pattern[i++];
      continue;
    }
    out += clean_for_path(value_of(pattern.substr(i + 1, close - i - 1), values));
    i = close + 1;
  }
  return out;
}

std::string run_name_for(const Spec& spec, const JobIdentity& job) {
  std::string name = spec.profile.run_name;
  if (name.empty()) name = job.program + "-" + job.readable;
  return clean_for_path(name);
}

std::string with_part(std::string name, const std::string& part) {
  const std::size_t slash = name.rfind('/');
  const std::size_t from = slash == std::string::npos ? 0 : slash + 1;
  std::size_t at = std::string::npos;
  for (const std::string_view ending : {".pt.trace.json.gz", ".pt.trace.json", ".json.gz", ".json"}) {
    if (name.ends_with(ending)) {
      at = name.size() - ending.size();
      break;
    }
  }
  // TensorBoard's names have a step number before the ending ("worker.11.pt.trace.json").
  if (at != std::string::npos) {
    std::size_t digits = at;
    while (digits > from && name[digits - 1] >= '0' && name[digits - 1] <= '9') --digits;
    if (digits < at && digits > from + 1 && name[digits - 1] == '.') at = digits - 1;
  }
  name.insert(at == std::string::npos || at < from ? name.size() : at, part);
  return name;
}

Patterns patterns_of(const Spec& spec) {
  Patterns patterns{spec.output.folder, spec.output.filename};
  const bool any_window =
      std::any_of(spec.phases.begin(), spec.phases.end(), [](const PhaseSpec& phase) { return phase.has_windows; });
  const std::size_t at = patterns.folder.find("{phase}");
  if (!any_window || at == std::string::npos) return patterns;
  const std::size_t slash = patterns.folder.rfind('/', at);
  const bool is_first = slash == std::string::npos;
  patterns.file = patterns.folder.substr(is_first ? 0 : slash + 1) + "/" + patterns.file;
  patterns.folder = is_first ? "." : slash == 0 ? "/" : patterns.folder.substr(0, slash);
  return patterns;
}

std::string trace_file_name(const Spec& spec, const NameValues& values, std::string& added) {
  Patterns patterns = patterns_of(spec);
  // A folder for each window, so that HTA can load it.
  const bool of_phase = !values.phase.empty();
  if (of_phase && !mentions(patterns.file, {"phase"})) patterns.file = "{phase}-{occurrence}/" + patterns.file;
  const std::string whole = patterns.folder + "/" + patterns.file;
  std::string name = expand(patterns.file, values);
  if (!mentions(whole, {"rank", "pid"})) added += "-rank" + std::to_string(values.rank.rank);
  const bool several_windows =
      spec.schedule.repeat != 1 || !spec.schedule.steps.empty() || spec.schedule_per_epoch || of_phase;
  if (several_windows &&
      !mentions(whole, {"window", "step", "first_step", "last_step", "time_ns", of_phase ? "occurrence" : "window"})) {
    added += "-w" + std::to_string(values.window);
  }
  if (!added.empty()) name = with_part(std::move(name), added);
  const bool has_ending = name.ends_with(".gz");
  if (spec.output.gzip == Gzip::kYes && !has_ending) name += ".gz";
  if (spec.output.gzip == Gzip::kNo && has_ending) name.resize(name.size() - 3);
  return name;
}

}  // namespace profshim
