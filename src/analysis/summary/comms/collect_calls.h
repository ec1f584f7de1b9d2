// Adds collectives and messages of one file, each once:
//  * a collective kernel ("device");
//  * an operator without a kernel, with its backend's work range ("host": gloo:all_reduce) if all operators of the
//    function have such a range, else its own time ("host, starts it");
//  * an MPI collective ("host"), up to its completion.
#pragma once

#include "analysis/model/timeline.h"
#include "calls.h"

namespace profshim::analysis_detail {

void collect_calls(CommsCalls& calls, const Timeline& timeline, int rank);

}  // namespace profshim::analysis_detail
