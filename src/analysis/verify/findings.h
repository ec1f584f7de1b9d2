#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "profshim/analysis.h"
#include "profshim/trace/reader.h"

namespace profshim::analysis_detail {

class Findings {
 public:
  /// `what` must be a literal. Equal `item` and `what` make one finding.
  void must(int item, std::string_view what, const std::string& where = {}) { add(item, true, what, where); }
  void should(int item, std::string_view what, const std::string& where = {}) { add(item, false, what, where); }
  void move_to(std::vector<Finding>& report);

 private:
  struct Entry {
    std::string_view what;
    Finding finding;
  };
  void add(int item, bool must, std::string_view what, const std::string& where);
  std::vector<Entry> entries_;
};

/// Returns "'MPI_Wait' at byte 4711"; cuts long names.
std::string where_is(const ReadEvent& event);
std::string where_is(std::uint64_t offset);

}  // namespace profshim::analysis_detail
