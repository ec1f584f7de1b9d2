// Collects findings of `profshim verify`: one for each item and sentence, with a count instead of a line for each
// event. Also looks up arguments of events.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "profshim/analysis.h"
#include "profshim/trace/reader.h"

namespace profshim::analysis_detail {

class Findings {
 public:
  /// `what` is a literal; with the item, it identifies the finding. Keeps `where` of the first event.
  void must(int item, std::string_view what, const std::string& where = {}) { add(item, true, what, where); }
  void should(int item, std::string_view what, const std::string& where = {}) { add(item, false, what, where); }
  /// Appends the findings to `report`, sorted by item.
  void move_to(std::vector<Finding>& report);

 private:
  struct Entry {
    std::string_view what;
    Finding finding;
  };
  void add(int item, bool must, std::string_view what, const std::string& where);
  std::vector<Entry> entries_;
};

/// Returns for example "'MPI_Wait' at byte 4711"; a long name is cut, so that it fits on a line of a terminal.
std::string where_is(const ReadEvent& event);
std::string where_is(std::uint64_t offset);

/// Returns the argument with that key, or null.
const ReadEvent::ReadArg* find_arg(const ReadEvent& event, std::string_view key);
/// Returns the value of the argument if it is an integer, otherwise `otherwise`.
std::int64_t integer_arg(const ReadEvent& event, std::string_view key, std::int64_t otherwise);
/// Returns the text of the argument, or the JSON of a list or object; "" if there is no such argument.
std::string_view text_arg(const ReadEvent& event, std::string_view key);

}  // namespace profshim::analysis_detail
