// Adds each collective and message of one file once:
//  * a collective kernel ("device");
//  * an operator without a kernel: the work range of the backend (gloo:all_reduce, "host") if all operators of the
//    function have one, or else the operator itself ("host, starts it");
//  * an MPI collective up to its completion ("host").
#pragma once

#include "analysis/model/timeline.h"
#include "calls.h"

namespace profshim::analysis_detail {

void collect_calls(CommsCalls& calls, const Timeline& timeline, int rank);

}  // namespace profshim::analysis_detail
