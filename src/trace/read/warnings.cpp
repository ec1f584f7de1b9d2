// The sentences about what read_trace() repairs, changes or leaves out.
#include <iterator>

#include "profshim/trace/reader.h"

namespace profshim {
namespace {

struct Words {
  JsonRepair kind;
  const char *one, *many;  // subjects
  const char* done;        // predicate for both
};

constexpr Words kWords[] = {
    {JsonRepair::kByteOrderMark, "byte order mark", "byte order marks", "skipped"},
    {JsonRepair::kControlCharacter, "raw control character in a string", "raw control characters in strings",
     "read as written"},
    {JsonRepair::kNotUtf8, "byte in a string that is not UTF-8", "bytes in strings that are not UTF-8",
     "read as U+FFFD"},
    {JsonRepair::kLoneSurrogate, "lone half of a surrogate pair", "lone halves of surrogate pairs", "read as U+FFFD"},
    {JsonRepair::kBackslash, "backslash that escapes nothing", "backslashes that escape nothing", "read as written"},
    {JsonRepair::kComma, "comma too many", "commas too many", "skipped"},
    {JsonRepair::kNotFinite, "number that is not finite", "numbers that are not finite", "read as null"},
    {JsonRepair::kNulByte, "NUL byte between values", "NUL bytes between values", "skipped"},
    {JsonRepair::kBehindTheEnd, "byte behind the end of the trace", "bytes behind the end of the trace", "ignored"},
};
static_assert(std::size(kWords) == kJsonRepairs);

std::string counted(std::uint64_t count, const char* one, const char* many) {
  return std::to_string(count) + ' ' + (count == 1 ? one : many);
}

void add_event_warnings(const EventRepairs& repairs, std::vector<std::string>& to) {
  const auto left_out = [&](std::uint64_t count, const char* one, const char* many) {
    if (count > 0) to.push_back(counted(count, one, many) + ": left out");
  };
  if (repairs.lone_begins > 0) {
    to.push_back(counted(repairs.lone_begins, "slice (B event) has no end: it lasts",
                         "slices (B events) have no end: they last") +
                 " to the end of the trace");
  }
  if (repairs.cut > 0) {
    to.push_back(counted(repairs.cut, "slice (B event) does not end in the slice around it: it ends",
                         "slices (B events) do not end in the slice around them: they end") +
                 " with that");
  }
  left_out(repairs.lost_begins, "begin (B event) without a possible time, or beyond a million open ones",
           "begins (B events) without a possible time, or beyond a million open ones");
  left_out(repairs.lone_ends, "end (E event) without an open begin", "ends (E events) without an open begin");
  left_out(repairs.no_objects, "element of traceEvents is null", "elements of traceEvents are null");
  std::uint64_t others = repairs.no_phase;
  std::string phases = repairs.no_phase > 0 ? "none " + std::to_string(repairs.no_phase) : "";
  for (const auto& [letter, count] : repairs.other_phases) {
    others += count;
    phases += (phases.empty() ? "" : ", ") + std::string(1, letter) + ' ' + std::to_string(count);
  }
  if (others > 0) {
    to.push_back(counted(others, "event has a phase", "events have a phase") + " that no view shows (" + phases + ")");
  }
}

}  // namespace

std::vector<std::string> ReadResult::json_warnings() const {
  std::vector<std::string> sentences;
  for (const Words& words : kWords) {
    const JsonRepairs::Count& seen = json[words.kind];
    if (seen.count == 0) continue;
    sentences.push_back(counted(seen.count, words.one, words.many) + " (" + (seen.count == 1 ? "at" : "the first at") +
                        " byte " + std::to_string(seen.first) + "): " + words.done);
  }
  if (behind_gzip > 0) sentences.push_back(counted(behind_gzip, "byte", "bytes") + " behind the gzip data: ignored");
  if (is_unclosed) sentences.emplace_back("the list of events is not closed: its end may be missing");
  return sentences;
}

std::vector<std::string> ReadResult::warnings() const {
  std::vector<std::string> sentences = json_warnings();
  add_event_warnings(repairs, sentences);
  return sentences;
}

}  // namespace profshim
