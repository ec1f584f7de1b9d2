#pragma once

#include <functional>
#include <string>

#include "profshim/convert.h"
#include "profshim/trace/reader.h"
#include "profshim/trace/writer.h"

namespace profshim::convert_detail {

/// write_perfetto() calls this twice: it must read the same trace each time.
using ReadTrace = std::function<ReadResult(const TraceVisitor&)>;

/// Returns false, and sets result.error, if the trace cannot be read. The sink reports write errors.
bool write_perfetto(const std::string& name, const ReadTrace& read, ByteSink& sink, ConvertResult& result);

}  // namespace profshim::convert_detail
