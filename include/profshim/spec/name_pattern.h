// Names of runs, run folders and traces, by the patterns of the spec.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "profshim/base/job_identity.h"
#include "profshim/base/rank.h"
#include "profshim/spec.h"

namespace profshim {

/// Values of pattern_variables(). {step} is first_step.
struct NameValues {
  Rank rank;
  std::string run_name, host, phase, job_id;
  int pid = 0;
  std::int64_t first_step = 0, last_step = 0, window = 0, epoch = 0;
  std::int64_t occurrence = 0;  // of the phase
  std::int64_t time_ns = 0;
  std::map<std::string_view, std::string> words = {};  // by variable: used instead of its value, to show a plan
};
const std::vector<std::string_view>& pattern_variables();
/// Returns "" if the pattern is valid, else one sentence with a hint.
std::string check_pattern(std::string_view pattern, bool is_folder);
std::string expand(std::string_view pattern, const NameValues& values);

/// Returns profile.run_name, or a name from program and job, as a safe path component.
std::string run_name_for(const Spec& spec, const JobIdentity& job);

/// The patterns in force of the run folder, and of traces in it. If phases have windows, a folder that depends on
/// {phase} belongs to the traces.
struct Patterns {
  std::string folder, file;
};
Patterns patterns_of(const Spec& spec);

/// If the patterns of folder and file do not distinguish ranks or windows, appends "-rank3" or "-w2" to name and
/// `added`. Sets the ending .gz by output.gzip.
std::string trace_file_name(const Spec& spec, const NameValues& values, std::string& added);

/// Returns "a/x_part2.pt.trace.json" for "a/x.pt.trace.json" and "_part2".
std::string with_part(std::string name, const std::string& part);

}  // namespace profshim
