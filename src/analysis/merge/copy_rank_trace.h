#pragma once

#include <string>
#include <vector>

#include "arrows.h"
#include "clocks.h"
#include "profshim/trace/reader.h"
#include "profshim/trace/writer.h"
#include "renumber_ids.h"

namespace profshim::analysis_detail {

class FileCopy {
 public:
  /// Keeps all references but `rank`. Arrow n gets the id `arrows_from` + n.
  FileCopy(TraceWriter& out, const RankTrace& trace, const MergedRank& rank, const Renumbering& numbers,
           const ClockMap& clock, const std::vector<ArrowEnd>& arrows, std::int64_t arrows_from,
           ThreadNumbers& threads);

  /// Call this for each event, in file order.
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
