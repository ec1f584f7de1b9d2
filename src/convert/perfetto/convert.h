// A trace as Perfetto's protobuf, from wherever it can be read twice.
#pragma once

#include <functional>
#include <string>

#include "profshim/convert.h"
#include "profshim/trace.h"

namespace profshim::convert_detail {

/// Reads the whole trace; the same one each time.
using ReadTrace = std::function<ReadResult(const TraceVisitor&)>;

/// False, with result.error, when it cannot be read; what cannot be written is the sink's to know.
bool write_perfetto(const std::string& name, const ReadTrace& read, ByteSink& sink, ConvertResult& result);

}  // namespace profshim::convert_detail
