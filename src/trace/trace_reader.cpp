#include <cerrno>
#include <cstring>
#include <new>

#include "byte_source.h"
#include "profshim/base/error_text.h"
#include "profshim/json/stream_parser.h"
#include "profshim/trace/reader.h"
#include "trace_document.h"

namespace profshim {
namespace {

using trace_detail::ByteSource;
using trace_detail::TraceDocument;

std::string why_parsing_failed(const std::string& parse_error, const TraceDocument& document, const JsonStream& stream,
                               const ByteSource& source) {
  if (!source.error().empty()) return source.error();
  if (stream.token_too_long()) return "a string, or whitespace between tokens, is longer than 64 MiB";
  if (!document.refused().empty()) return document.refused();
  return parse_error;
}

ReadResult read_source(ByteSource& source, const TraceVisitor& visitor) {
  ReadResult result;
  JsonStream stream([&](char* data, std::size_t size) {
    const std::size_t n = source.read(data, size);
    if (n > 0 && visitor.bytes) visitor.bytes({data, n});
    return n;
  });
  TraceDocument document(visitor, stream, result);
  const std::string parse_error = parse_json_stream(stream, document);
  result.bytes = stream.position();
  const auto fail = [&](const std::string& what) {
    result.error = "byte " + std::to_string(result.bytes) + ": " + what;
  };
  if (document.stopped()) {
    result.ok = true;
  } else if (!parse_error.empty()) {
    const bool ended = stream.at_end() && !stream.token_too_long() && document.refused().empty();
    result.truncated = source.truncated() || (ended && source.error().empty());
    fail((result.truncated && source.error().empty() ? "the file ends early: " : "") +
         why_parsing_failed(parse_error, document, stream, source));
  } else if (!source.error().empty()) {
    result.truncated = source.truncated();
    fail(source.error());
  } else if (!stream.at_end()) {
    fail("a NUL byte before the end of the file: the file is damaged");
  } else if (!document.saw_events()) {
    fail("not a trace: traceEvents is missing");
  } else {
    result.ok = true;
  }
  return result;
}

ReadResult read_guarded(std::unique_ptr<ByteSource> source, const TraceVisitor& visitor) {
  try {
    const auto plain = trace_detail::maybe_gzip(std::move(source));
    return read_source(*plain, visitor);
  } catch (const std::bad_alloc&) {
    ReadResult result;
    result.error = "not enough host memory to read this trace";
    return result;
  }
}

}  // namespace

std::string ReadResult::useless() const {
  if (!ok && !(truncated && events > 0)) return error;
  return events == 0 ? "no events in it" : "";
}

ReadResult read_trace(const std::string& path, const TraceVisitor& visitor) {
  auto source = trace_detail::file_source(path);
  if (source == nullptr) {
    ReadResult result;
    result.error = std::string("cannot open: ") + error_text(errno);
    return result;
  }
  return read_guarded(std::move(source), visitor);
}

ReadResult read_trace_bytes(std::string_view bytes, const TraceVisitor& visitor) {
  return read_guarded(trace_detail::memory_source(bytes), visitor);
}

}  // namespace profshim
