#pragma once

#include <memory>
#include <string>

#include "profshim/memory_room.h"
#include "session/plan.h"

namespace profshim::session {

/// Where the spool lies, and the memory that the recording may hold. Constant once the recording has begun.
struct SpoolPlace {
  std::unique_ptr<recorder::MemoryRoom> room;
  recorder::Bound bound = recorder::Bound::kHostMemory;  // sets `bytes`
  std::uint64_t bytes = 0;  // of host memory, for the spool, the writer and CUPTI's buffers
  std::string why_no_file;  // "" = the spool is a file
  std::string link;         // to the spool, a name in the run folder; "" = none
};

/// Uses limits.spool_folder or /dev/shm, else anonymous memory. Returns false if the job can spare no memory.
bool create_spool(const Plan& plan, SpoolPlace& place, std::string& why_not);
/// Makes a link to the spool in the run folder, for `profshim recover`.
void link_spool(const Plan& plan, SpoolPlace& place);
/// Reports a spool that is small or not a file. Needs recorder::intern().
void report_spool_place(const Plan& plan, const SpoolPlace& place);
void remove_spool(const Plan& plan, const SpoolPlace& place);

}  // namespace profshim::session
