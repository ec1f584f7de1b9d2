#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "profshim/trace/writer.h"
#include "profshim/write/publish.h"

namespace profshim::write {

/// Writes a file beside the trace: for the trace "rank0.11.pt.trace.json.gz" and the ending ".stacks.txt" it is
/// "rank0.11.stacks.txt". Returns its name, or "failed: " and the reason. A recovered window keeps the file that it
/// has.
std::string write_export(const Spec& spec, const PublishOptions& options, const std::string& trace,
                         std::string_view ending, const std::function<bool(ByteSink& sink)>& write);

}  // namespace profshim::write
