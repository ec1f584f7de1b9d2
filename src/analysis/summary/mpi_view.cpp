#include "mpi_view.h"

#include <algorithm>

#include "analysis/model/statistics.h"
#include "profshim/trace/schema.h"

namespace profshim::analysis_detail {

void MpiView::Row::add(const Row& other) {
  calls += other.calls;
  total_ns += other.total_ns;
  max_ns = std::max(max_ns, other.max_ns);
  bytes += other.bytes;
  has_bytes = has_bytes || other.has_bytes;
  has_max = has_max && other.has_max;
}

void MpiView::add(const Timeline& timeline, int rank) {
  if (timeline.slices.empty()) return;
  RankRows& own = ranks_[rank];
  const std::vector<bool> is_mpi = matching_texts(timeline.texts, [](std::string_view text) {
    return text.starts_with(schema::name::kMpiStart) || text == schema::name::kMpiPolling;
  });
  std::vector<Row> rows(timeline.texts.size());
  std::int64_t first = timeline.slices.front().begin_ns, last = first;
  for (const Slice& s : timeline.slices) {
    first = std::min(first, s.begin_ns);
    last = std::max(last, s.end_ns());
    if (!is_mpi[s.name] || s.asynchronous || s.kind != Kind::kCpuOp) continue;
    Row call{.calls = 1, .max_ns = s.duration_ns, .total_ns = static_cast<double>(s.duration_ns)};
    if (s.communication != kNone) {
      const Communication& c = timeline.communications[s.communication];
      if (c.polls > 0) {
        call = {.calls = c.polls, .total_ns = static_cast<double>(c.in_calls_ns), .has_max = false};
      }
      call.has_bytes = c.bytes >= 0;
      if (c.bytes > 0) call.bytes = static_cast<double>(c.bytes);
      if (c.received_bytes > 0) call.bytes += static_cast<double>(c.received_bytes);
    }
    rows[s.name].add(call);
  }
  own.window_ns += static_cast<double>(difference(last, first));
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (rows[i].calls > 0) own.rows[names_.add(timeline.texts[static_cast<TextId>(i)])].add(rows[i]);
  }
}

View MpiView::finish() {
  View view{.key = "mpi"};
  ViewTable table{.key = "mpi",
                  .title = "MPI calls",
                  .columns = {{"rank", "Rank"},
                              {"function", "Function"},
                              {"calls", "Calls"},
                              {"total_us", "Total", Unit::kTime},
                              {"mean_us", "Mean", Unit::kTime},
                              {"max_us", "Max", Unit::kTime},
                              {"bytes", "Bytes", Unit::kBytes},
                              {"share_percent", "Share of window", Unit::kPercent}},
                  .limit_each = true};
  ViewTable totals{.key = "ranks",
                   .title = "Time in MPI",
                   .columns = {{"rank", "Rank"},
                               {"calls", "Calls"},
                               {"total_us", "Total", Unit::kTime},
                               {"window_us", "Window", Unit::kTime},
                               {"share_percent", "Share of window", Unit::kPercent}}};
  const auto append = [&](const Cell& rank, const RankRows& of) {
    const auto share = [&](double ns) { return of.window_ns > 0 ? 100 * ns / of.window_ns : 0; };
    std::vector<std::pair<TextId, Row>> rows(of.rows.begin(), of.rows.end());
    std::stable_sort(rows.begin(), rows.end(),
                     [](const auto& a, const auto& b) { return a.second.total_ns > b.second.total_ns; });
    Row all;
    for (const auto& [name, row] : rows) {
      all.add(row);
      Cell max, bytes;
      if (row.has_max) max = to_us(row.max_ns);
      if (row.has_bytes) bytes = row.bytes;
      table.rows.push_back({rank, std::string(names_[name]), row.calls, to_us(row.total_ns),
                            to_us(row.total_ns) / static_cast<double>(row.calls), max, bytes, share(row.total_ns)});
    }
    totals.rows.push_back({rank, all.calls, to_us(all.total_ns), to_us(of.window_ns), share(all.total_ns)});
  };
  RankRows sum;
  for (const auto& [rank, of] : ranks_) {
    for (const auto& [name, row] : of.rows) sum.rows[name].add(row);
    sum.window_ns += of.window_ns;
  }
  if (ranks_.size() > 1) append("all", sum);
  for (const auto& [rank, of] : ranks_) append(std::int64_t{rank}, of);
  if (sum.rows.empty()) view.notes.emplace_back("No MPI calls");
  view.tables = {std::move(table), std::move(totals)};
  return view;
}

}  // namespace profshim::analysis_detail
