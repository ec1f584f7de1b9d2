// Log lines that only one rank of a job prints: the first leaves a mark file in the run folder.
#pragma once

#include <cstdint>
#include <string>

namespace profshim::output {

/// Returns true if the caller should print: the mark for `topic` ("disk") is new or cannot be written. `base_time_ns`
/// distinguishes runs in one folder.
bool claim_job_line(const std::string& folder, const char* topic, std::int64_t base_time_ns);

/// Removes the run's marks if no rank records anymore. Call after release_claim().
void remove_job_lines(const std::string& folder, std::int64_t base_time_ns);

}  // namespace profshim::output
