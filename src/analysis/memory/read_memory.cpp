#include <stdexcept>

#include "memory_report.h"
#include "profshim/analysis/memory.h"

namespace profshim {

Report make_memory_report(const std::string& path) {
  using analysis_detail::MemoryReader;
  MemoryReader reader(MemoryReader::Order::kAny);
  TraceVisitor visitor;
  visitor.metadata = [&](std::string_view key, std::string_view json, bool) { reader.read_metadata(key, json); };
  visitor.event = [&](const ReadEvent& event) {
    reader.add(event);
    return true;
  };
  const ReadResult result = read_trace(path, visitor);
  if (const std::string why = result.useless(); !why.empty()) throw std::runtime_error(path + ": " + why);
  if (reader.events().empty()) {
    throw std::runtime_error(path +
                             ": no memory events: record with capture.profile_memory = true, or in PyTorch with "
                             "profile_memory=True");
  }
  reader.finish();
  Report report = analysis_detail::memory_report(reader, path);
  for (const std::string& warning : result.warnings()) report.warnings.push_back(path + ": " + warning);
  report.truncated = !result.ok;
  if (report.truncated) {
    report.warnings.push_back(path + ": " + result.why_partial() + "; only the " + std::to_string(result.events) +
                              " complete events are used");
  }
  return report;
}

}  // namespace profshim
