#include "copy_rank_trace.h"

#include <algorithm>

#include "profshim/trace/schema.h"

namespace profshim::analysis_detail {

FileCopy::FileCopy(TraceWriter& out, const RankTrace& trace, const MergedRank& rank, const Renumbering& numbers,
                   const ClockMap& clock, const std::vector<ArrowEnd>& arrows, std::int64_t arrows_from,
                   ThreadNumbers& threads)
    : out_(out),
      trace_(trace),
      numbers_(numbers),
      clock_(clock),
      arrows_(arrows),
      arrows_from_(arrows_from),
      threads_(threads),
      title_(rank.rank >= 0 ? "rank " + std::to_string(rank.rank) : trace.path) {}

void FileCopy::write(const ReadEvent& read) {
  TraceEvent e;
  e.phase = read.phase.empty() ? schema::phase::kSlice : read.phase[0];
  e.other_category = read.category;
  e.name = read.name;
  place(read, e);
  if (read.has_ts) {
    e.begin_ns = clock_(read.ts_ns);
    if (read.has_duration)
      e.duration_ns = clock_(bounded_sum(read.ts_ns, std::max<std::int64_t>(read.duration_ns, 0))) - e.begin_ns;
  } else {
    e.begin_ns = clock_(trace_.first_ns);
  }
  if (read.has_id) e.id = static_cast<std::uint64_t>(numbers_.id(read.id));
  if (!read.scope.empty()) e.scope = read.scope[0];
  copy_args(read, e);
  e.args = args_;
  out_.write(e);
  write_arrows(read, e);
  ++event_;
}

void FileCopy::place(const ReadEvent& read, TraceEvent& e) {
  if (read.pid_is_number && read.tid_is_number) {
    e.pid = numbers_.pids.at(read.pid);
    e.tid = threads_.number_of(e.pid, read.tid);
    return;
  }
  // Kineto's pids "Spans" and "Traces" get the rank appended. The pid of Kineto's end mark stays empty.
  e.text_ids = true;
  pid_text_ = read.pid_is_number ? std::to_string(numbers_.pids.at(read.pid)) : std::string(read.pid_text);
  if (!pid_text_.empty() && !read.pid_is_number) pid_text_ += " (" + title_ + ")";
  tid_text_ = read.tid_is_number ? std::to_string(read.tid) : std::string(read.tid_text);
  e.pid_text = pid_text_;
  e.tid_text = tid_text_;
}

void FileCopy::copy_args(const ReadEvent& read, const TraceEvent& e) {
  args_.clear();
  for (const auto& arg : read.args) args_.push_back({arg.key, value_of(arg)});
  if (!read.is(schema::phase::kMetadata)) return;
  if (read.name == schema::metadata::kProcessName) {
    for (Arg& arg : args_) {
      if (arg.key != schema::arg::kName || !std::holds_alternative<std::string_view>(arg.value)) continue;
      name_ = title_ + ": " + std::string(std::get<std::string_view>(arg.value));
      arg.value = std::string_view{name_};
    }
  } else if (read.name == schema::metadata::kProcessSortIndex) {
    for (Arg& arg : args_)
      if (arg.key == schema::arg::kSortIndex) arg.value = e.pid;
  }
}

decltype(Arg::value) FileCopy::value_of(const ReadEvent::ReadArg& arg) const {
  if (arg.kind == ReadEvent::ReadArg::Kind::kString) return arg.text;
  if (arg.kind == ReadEvent::ReadArg::Kind::kInt && arg.integer > 0) {
    if (arg.key == schema::arg::kCorrelation || arg.key == schema::arg::kExternalId ||
        arg.key == schema::arg::kWaitOnRecord)
      return bounded_sum(arg.integer, numbers_.added);
  }
  return RawJson{arg.text};
}

void FileCopy::write_arrows(const ReadEvent& read, const TraceEvent& slice) {
  for (; next_arrow_ < arrows_.size() && arrows_[next_arrow_].event == event_; ++next_arrow_) {
    const ArrowEnd& end = arrows_[next_arrow_];
    TraceEvent e;
    e.phase = end.starts ? schema::phase::kFlowStart : schema::phase::kFlowEnd;
    e.category = Category::kRankFlow;
    e.name = name_of(end.kind);
    e.pid = slice.pid;
    e.tid = slice.tid;
    // Rounding must not move an arrow out of its slice.
    const std::int64_t last = read.is(schema::phase::kSlice)
                                  ? bounded_sum(slice.begin_ns, std::max<std::int64_t>(slice.duration_ns - 1, 0))
                                  : slice.begin_ns;
    e.begin_ns =
        read.is(schema::phase::kSlice) ? std::clamp(clock_(end.at_ns), slice.begin_ns, last) : clock_(end.at_ns);
    e.id = static_cast<std::uint64_t>(arrows_from_) + end.arrow;
    out_.write(e);
  }
}

}  // namespace profshim::analysis_detail
