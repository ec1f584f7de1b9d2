// Converts a trace to Perfetto's protobuf.
#pragma once

#include <functional>
#include <string>

#include "profshim/convert.h"
#include "profshim/trace/reader.h"
#include "profshim/trace/writer.h"

namespace profshim::convert_detail {

/// Called twice: must read the same trace each time.
using ReadTrace = std::function<ReadResult(const TraceVisitor&)>;

/// Returns false if the trace cannot be read (result.error). The sink reports write errors.
bool write_perfetto(const std::string& name, const ReadTrace& read, ByteSink& sink, ConvertResult& result);

}  // namespace profshim::convert_detail
