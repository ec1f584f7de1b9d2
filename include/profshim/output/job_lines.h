// Log lines that only one rank of a job prints: the first rank leaves a mark in the run folder.
#pragma once

#include <cstdint>
#include <string>

namespace profshim::output {

/// Leaves a mark for `topic` ("disk", "windows"). Returns true if there was none: the caller prints the line. Also
/// returns true if the mark cannot be written: a line printed twice is better than a lost one. `base_time_ns`
/// distinguishes runs that use the same folder.
bool claim_job_line(const std::string& folder, const char* topic, std::int64_t base_time_ns);

/// Removes the marks of the run if no rank records into the folder anymore. Called at the end of a process, after it
/// has released its claim.
void remove_job_lines(const std::string& folder, std::int64_t base_time_ns);

}  // namespace profshim::output
