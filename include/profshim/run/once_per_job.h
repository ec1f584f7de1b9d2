// Matters that one rank decides for its job, such as who prints a log line: the first leaves a file in the run folder.
#pragma once

#include <cstdint>
#include <string>

#include "profshim/base/rank.h"

namespace profshim::run {

/// Returns true if the caller should print: the mark for `topic` ("disk") is new or cannot be written. `base_time_ns`
/// distinguishes runs in one folder.
bool claim_job_line(const std::string& folder, const char* topic, std::int64_t base_time_ns);

/// True on the one rank that logs `topic` for all ranks of the job.
bool speaks_for_job(const Rank& rank, const std::string& folder, const char* topic, std::int64_t base_time_ns);

/// Returns what the first rank has said about `topic`; "" = none has. If `own` is not empty and no rank was first, this
/// rank is: then, or without the folder, returns `own`.
std::string said_first(const std::string& folder, const char* topic, std::int64_t base_time_ns, const std::string& own);

/// Replaces what any rank has said about `topic`. Fails in silence.
void say(const std::string& folder, const char* topic, std::int64_t base_time_ns, const std::string& text);

/// True if a process has claimed another rank than this one.
bool is_other_rank_claimed(const std::string& folder, int rank);

/// Removes the run's marks if no rank records anymore. Call after release_claim().
void remove_job_lines(const std::string& folder, std::int64_t base_time_ns);

}  // namespace profshim::run
