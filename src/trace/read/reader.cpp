#include "profshim/trace/reader.h"

#include <cerrno>
#include <cstring>
#include <new>

#include "byte_source.h"
#include "damaged_text.h"
#include "profshim/base/text/message_text.h"
#include "profshim/json/stream_parser.h"
#include "trace_document.h"

namespace profshim {
namespace {

using trace_detail::ByteSource;
using trace_detail::TraceDocument;

std::string at_byte(std::uint64_t position, const std::string& what) {
  return "byte " + std::to_string(position) + ": " + what;
}

std::string why_parsing_failed(const std::string& parse_error, const TraceDocument& document, const JsonStream& stream,
                               const ByteSource& source) {
  if (!source.error().empty()) return source.error();
  if (stream.token_too_long()) return "a string, or whitespace between tokens, is longer than 64 MiB";
  if (!document.refused().empty()) return document.refused();
  return parse_error;
}

/// Reads the parts of a trace around damage: each event that cannot be parsed is left out.
class DamagedTrace {
 public:
  DamagedTrace(JsonStream& stream, TraceDocument& document, ReadResult& result)
      : stream_(stream), document_(document), result_(result) {}

  /// Returns why parsing ended before the end of the trace; "" if it did not.
  std::string parse() {
    std::string error = parse_json_stream(stream_, document_, result_.json);
    while (!error.empty() && can_go_on()) {
      if (result_.damaged++ == 0) first_error_ = why(error);
      std::string before = "[";
      if (document_.saw_events()) {
        before += trace_detail::skip_to_event(stream_, document_.saw_all_events());
        if (before.size() == 1) return document_.saw_all_events() ? "" : error;
      } else if (!trace_detail::skip_to_list(stream_)) {
        return error;
      }
      document_.go_on_in_list();
      error = parse_json_stream(stream_, document_, result_.json, before);
      if (!error.empty() || result_.bare_list) continue;
      trace_detail::skip_comma(stream_);
      document_.go_on_behind_list();
      error = parse_json_stream(stream_, document_, result_.json, "{");
    }
    return error;
  }
  const std::string& first_error() const { return first_error_; }

 private:
  static constexpr std::uint64_t kMostPlaces = 10'000;

  std::string why(const std::string& error) const {
    return at_byte(stream_.position(), document_.complaint().empty() ? error : document_.complaint());
  }

  bool can_go_on() const {
    return !stream_.at_end() && !stream_.token_too_long() && document_.refused().empty() && !document_.stopped() &&
           stream_.position() > 2 && result_.damaged < kMostPlaces;
  }

  JsonStream& stream_;
  TraceDocument& document_;
  ReadResult& result_;
  std::string first_error_;
};

ReadResult read_source(ByteSource& source, const TraceVisitor& visitor) {
  ReadResult result;
  JsonStream stream([&](char* data, std::size_t size) {
    const std::size_t n = source.read(data, size);
    if (n > 0 && visitor.bytes) visitor.bytes({data, n});
    return n;
  });
  TraceDocument document(visitor, stream, result);
  DamagedTrace trace(stream, document, result);
  const std::string parse_error = trace.parse();
  document.finish();
  if (parse_error.empty()) count_rest(stream, result.json);
  result.bytes = stream.position();
  result.behind_gzip = source.ignored();
  const auto fail = [&](const std::string& what) { result.error = at_byte(result.bytes, what); };
  if (document.stopped()) {
    result.ok = true;
  } else if (!parse_error.empty()) {
    const bool ended = stream.at_end() && !stream.token_too_long() && document.refused().empty();
    if (ended && source.error().empty() && document.is_unclosed_list() && result.damaged == 0) {
      result.ok = result.is_unclosed = true;
      return result;
    }
    result.truncated = source.truncated() || (ended && source.error().empty());
    fail((result.truncated && source.error().empty() ? "the file ends early: " : "") +
         why_parsing_failed(parse_error, document, stream, source));
  } else if (!source.error().empty()) {
    result.truncated = source.truncated();
    fail(source.error());
  } else if (!document.saw_events()) {
    fail("not a trace: traceEvents is missing");
  } else {
    result.ok = result.damaged == 0;
  }
  if (result.damaged > 0) {
    result.truncated = result.truncated && result.events > 0;
    result.error = trace.first_error();
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
  if (!ok && !(is_partial() && events > 0)) return error;
  return events == 0 ? "no events in it" : "";
}

std::string ReadResult::why_partial() const {
  if (damaged == 0) return "cut off: " + error;
  return "damaged in " + std::to_string(damaged) + (damaged == 1 ? " place: " : " places: the first at ") + error;
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
