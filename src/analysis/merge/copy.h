// One trace, event by event, into a merged one: on the common clock, with numbers of its own, and with the ends of
// arrows behind the events that they belong to.
#pragma once

#include <string>
#include <vector>

#include "arrows.h"
#include "clocks.h"
#include "numbers.h"
#include "profshim/trace/reader.h"
#include "profshim/trace/writer.h"

namespace profshim::analysis_detail {

class FileCopy {
 public:
  /// All but `rank` must live as long. Ids of arrows come behind `arrows_from`.
  FileCopy(TraceWriter& out, const RankTrace& trace, const MergedRank& rank, const Renumbering& numbers,
           const ClockMap& clock, const std::vector<ArrowEnd>& arrows, std::int64_t arrows_from,
           ThreadNumbers& threads);

  /// The events of the file in their order.
  void write(const ReadEvent& read);

 private:
  void place(const ReadEvent& read, TraceEvent& e);
  void copy_args(const ReadEvent& read, const TraceEvent& e);
  decltype(Arg::value) value_of(const ReadEvent::ReadArg& arg) const;
  void write_arrows(const ReadEvent& read, const TraceEvent& slice);

  TraceWriter& out_;
  const RankTrace& trace_;
  const Renumbering& numbers_;
  const ClockMap& clock_;
  const std::vector<ArrowEnd>& arrows_;
  const std::int64_t arrows_from_;
  ThreadNumbers& threads_;
  const std::string title_;
  std::string pid_text_, tid_text_, name_;
  std::vector<Arg> args_;
  std::uint64_t event_ = 0;
  std::size_t next_arrow_ = 0;
};

}  // namespace profshim::analysis_detail
