// Log lines that only one rank of a job prints: the first leaves a mark in the run folder.
#pragma once

#include <cstdint>
#include <string>

namespace profshim::output {

/// Leaves a mark for `topic` ("disk", "windows"). Returns true if the caller prints: there was no mark, or it cannot be
/// written (twice is better than never). `base_time_ns` distinguishes runs in one folder.
bool claim_job_line(const std::string& folder, const char* topic, std::int64_t base_time_ns);

/// Removes the run's marks if no rank records there anymore. Call at the end, after releasing the claim.
void remove_job_lines(const std::string& folder, std::int64_t base_time_ns);

}  // namespace profshim::output
