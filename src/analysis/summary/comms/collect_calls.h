// Adds the collectives and messages of one file, each once:
//  * a collective kernel ("device"). If it has no arguments, those of the operator that its External id names count;
//  * an operator without such a kernel. Its time is that of the range in which its backend does the work ("host":
//    gloo:all_reduce) if every operator of the function has such a range, otherwise its own, in which it only starts
//    the work ("host, starts it");
//  * an MPI collective ("host"); a non-blocking one from its call to its completion. MPI messages are in --mpi.
#pragma once

#include "analysis/model/timeline.h"
#include "calls.h"

namespace profshim::analysis_detail {

void collect_calls(CommsCalls& calls, const Timeline& timeline, int rank);

}  // namespace profshim::analysis_detail
