// Readers must agree on an input. Traces written from an input must be readable.
#pragma once

#include <cstdlib>
#include <sstream>
#include <stdexcept>
#include <string>
#include <string_view>

#include "analysis/summary/table/key_averages.h"
#include "convert/perfetto/convert.h"
#include "profshim/analysis.h"
#include "profshim/trace/reader.h"
#include "profshim/trace/writer.h"
#include "unit/convert/perfetto_reader.h"
#include "unit/trace/event_text.h"
#include "unit/trace/sample_trace.h"

namespace profshim::test {

inline void fuzz_summary(std::string_view bytes) {
  try {
    analysis_detail::KeyAverages averages(true);
    averages.add(analysis_detail::load_timeline_bytes(bytes, "trace", {.input_dims = true}), -1);
    table_text(averages.finish(), {.sort_by = "count"});
  } catch (const std::runtime_error&) {
  }
}

/// The parser of src/json reads a trace's first event, and the quick reader reads later events.
inline void fuzz_event(std::string_view bytes) {
  const auto read = [&](const std::string& before, std::ostringstream& seen) {
    std::uint64_t skip = before.empty() ? 0 : 1;
    TraceVisitor visitor;
    visitor.event = [&](const ReadEvent& e) {
      if (skip > 0) {
        --skip;
      } else {
        print_event(seen, e);
      }
      return true;
    };
    return read_trace_bytes("{\"traceEvents\":[" + before + std::string(bytes) + "]}", visitor).ok;
  };
  std::ostringstream one, other;
  const bool first = read("", one), second = read(R"({"ph":"M"},)", other);
  // If the input has no event, the comma before the input is invalid.
  if (first && !one.str().empty() && (!second || one.str() != other.str())) std::abort();
}

inline void fuzz_convert(std::string_view bytes) {
  std::string converted;
  MemorySink sink(converted);
  ConvertResult result;
  const auto read = [&](const TraceVisitor& visitor) { return read_trace_bytes(bytes, visitor); };
  if (!convert_detail::write_perfetto("trace", read, sink, result)) return;
  const SeenPerfetto seen = PerfettoReader(converted).seen;
  if (seen.unknown_texts > 0 || seen.ends_of_nothing > 0) std::abort();
}

inline void fuzz_trace(std::string_view bytes) {
  const FileReport report = verify_trace_bytes(bytes, "rank0.1.pt.trace.json");

  std::string copy;
  MemorySink sink(copy);
  TraceWriter writer(sink, TraceHeader{});
  TraceVisitor visitor;
  visitor.event = [&](const ReadEvent& event) {
    std::vector<Arg> args;
    for (const auto& arg : event.args) args.push_back({arg.key, arg.text});
    writer.write({.category = Category::kCpuOp,
                  .name = event.name,
                  .pid = event.pid,
                  .tid = event.tid,
                  .begin_ns = event.ts_ns,
                  .duration_ns = event.duration_ns,
                  .args = args});
    return true;
  };
  const ReadResult first = read_trace_bytes(bytes, visitor);
  writer.finish();
  const ReadResult second = read_trace_bytes(copy, {});
  if (report.readable != first.ok || !second.ok || second.events != first.events) std::abort();
  json_leaves(bytes, [](std::string_view, const ReadEvent::ReadArg&) {});
  fuzz_summary(bytes);
  fuzz_event(bytes);
  fuzz_convert(bytes);
}

}  // namespace profshim::test
