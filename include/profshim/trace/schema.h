// Keys, categories and event names of the Kineto trace format, and the order of the file:
//
//   {
//   "schemaVersion": 1,                      first: readers recognize the format by it
//   "deviceProperties": [{"id": 0, …}],      required by torch._inductor; one element per GPU
//   "distributedInfo": {"backend": …, "rank": 3, "world_size": 8, "pg_count": 1, "pg_config": […]},
//   "host_name": "node7",
//   "cupti_version": 130001,                 and other TraceHeader::members
//   "profshim": {…},                         members: namespace ours
//   "displayTimeUnit": "ms",                 with "ns", older Perfetto scales ts
//   "baseTimeNanoseconds": 1711964646000000000,
//   "traceEvents": [
//   …                                        one event per line
//   ],
//   "traceName": "…/rank3.11.pt.trace.json"  left out if the path holds a ']'
//   }
//
//  * HTA searches the text for  "rank":\s+\d+  (first match), so a blank must follow the colon. Its metadata parser
//    stops at traceEvents.
//  * torch_tb_profiler 0.4.3 inserts text before the last ']', which must be that of traceEvents.
//  * Readers keep times as doubles. ts is relative to baseTimeNanoseconds, else nanoseconds would be lost.
#pragma once

#include "profshim/trace/schema/arguments.h"
#include "profshim/trace/schema/categories.h"
#include "profshim/trace/schema/document.h"
#include "profshim/trace/schema/names.h"
#include "profshim/trace/schema/profshim_object.h"
