#pragma once

#include <functional>
#include <string>

#include "profshim/convert.h"
#include "profshim/trace/reader.h"
#include "profshim/trace/writer.h"

namespace profshim::convert_detail {

/// write_perfetto() calls this twice for the same trace.
using ReadTrace = std::function<ReadResult(const TraceVisitor&)>;

/// Returns false, and sets result.error, if the trace cannot be read. After a failed write, `sink.close()` fails.
bool write_perfetto(const std::string& name, const ReadTrace& read, ByteSink& sink, ConvertResult& result);

}  // namespace profshim::convert_detail
