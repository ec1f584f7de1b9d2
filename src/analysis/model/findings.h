// Collects findings: one per item and message kind, with a count instead of a line for each event.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "profshim/analysis.h"
#include "profshim/trace/reader.h"

namespace profshim::analysis_detail {

class Findings {
 public:
  /// `what` is a constant sentence and with the item the identity of the finding; `where` is kept of the first one.
  void must(int item, std::string_view what, const std::string& where = {}) { add(item, true, what, where); }
  void should(int item, std::string_view what, const std::string& where = {}) { add(item, false, what, where); }
  /// Sorted by item; appended to `report`.
  void move_to(std::vector<Finding>& report);

 private:
  struct Entry {
    std::string_view what;
    Finding finding;
  };
  void add(int item, bool must, std::string_view what, const std::string& where);
  std::vector<Entry> entries_;
};

/// "'MPI_Wait' at byte 4711": names cut to a length fit for a terminal line.
std::string where_is(const ReadEvent& event);
std::string where_is(std::uint64_t offset);

/// The argument with that key, or null.
const ReadEvent::ReadArg* find_arg(const ReadEvent& event, std::string_view key);
/// Its value when it is an integer, else `otherwise`.
std::int64_t integer_arg(const ReadEvent& event, std::string_view key, std::int64_t otherwise);
/// Its text, of a list or object the JSON; "" without one.
std::string_view text_arg(const ReadEvent& event, std::string_view key);

}  // namespace profshim::analysis_detail
