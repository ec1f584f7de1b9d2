// Adds collectives and messages of one file, each once:
//  * a collective kernel ("device");
//  * an operator without a kernel: if all operators of the function have a work range of the backend
//    (gloo:all_reduce), its range ("host"), else its own time ("host, starts it");
//  * an MPI collective ("host"), up to its completion.
#pragma once

#include "analysis/model/timeline.h"
#include "calls.h"

namespace profshim::analysis_detail {

void collect_calls(CommsCalls& calls, const Timeline& timeline, int rank);

}  // namespace profshim::analysis_detail
