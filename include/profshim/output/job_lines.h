// Lines that any rank may have to say, said by one: the first to come to it leaves a mark in the run folder.
#pragma once

#include <cstdint>
#include <string>

namespace profshim::output {

/// True for the first process of the run that asks about `matter` ("disk", "windows"), and where the folder takes no
/// mark: a line is rather said twice than never. `base_time_ns`: tells runs into one folder apart.
bool is_first_to_say(const std::string& folder, const char* matter, std::int64_t base_time_ns);

/// Takes the marks away when no rank records into the folder any more; at the end of a process, after its claim was
/// given back.
void forget_what_was_said(const std::string& folder, std::int64_t base_time_ns);

}  // namespace profshim::output
