#include "kernels_view.h"

#include <algorithm>
#include <array>

#include "analysis/model/statistics.h"

namespace profshim::analysis_detail {
namespace {

constexpr std::array kDeviceKinds = {Kind::kKernel, Kind::kMemcpy, Kind::kMemset};

std::string kind_name(Kind kind) {
  return kind == Kind::kKernel ? "kernel" : kind == Kind::kMemcpy ? "copy" : "memset";
}

}  // namespace

void KernelsView::add(const Timeline& timeline, int rank) {
  auto& rows = ranks_[rank];
  std::vector<Row*> known(timeline.texts.size() * kDeviceKinds.size(), nullptr);
  for (const Slice& s : timeline.slices) {
    if (!is_device_work(s.kind)) continue;
    const auto kind =
        static_cast<std::size_t>(std::find(kDeviceKinds.begin(), kDeviceKinds.end(), s.kind) - kDeviceKinds.begin());
    Row*& row = known[s.name * kDeviceKinds.size() + kind];
    if (row == nullptr) {
      const TextId name = names_.add(timeline.name_of(s));
      row = &rows[{name, s.kind}];
      row->name = name;
      row->kind = s.kind;
    }
    row->durations_ns.push_back(s.duration_ns);
  }
}

void KernelsView::append_rank(ViewTable& table, ViewTable& totals, const Cell& rank, const std::vector<Row>& rows) {
  double all_us = 0;
  std::int64_t count = 0;
  std::vector<std::pair<Statistics, const Row*>> sums;
  for (const Row& row : rows) {
    const auto& of_row = sums.emplace_back(statistics(row.durations_ns), &row).first;
    all_us += of_row.total_us;
    count += of_row.count;
  }
  std::stable_sort(sums.begin(), sums.end(),
                   [](const auto& a, const auto& b) { return a.first.total_us > b.first.total_us; });
  for (const auto& [s, row] : sums) {
    table.rows.push_back({rank, std::string(names_[row->name]), kind_name(row->kind), s.count, s.total_us, s.min_us,
                          s.max_us, s.p50_us, s.p95_us, s.mean_us, all_us > 0 ? 100 * s.total_us / all_us : 0});
  }
  totals.rows.push_back({rank, count, all_us});
}

View KernelsView::finish() {
  View view{.key = "kernels"};
  ViewTable table{.key = "kernels",
                  .title = "Device activity",
                  .columns = {{"rank", "Rank"},
                              {"name", "Name"},
                              {"kind", "Kind"},
                              {"count", "Count"},
                              {"total_us", "Total", Unit::kTime},
                              {"min_us", "Min", Unit::kTime},
                              {"max_us", "Max", Unit::kTime},
                              {"p50_us", "p50", Unit::kTime},
                              {"p95_us", "p95", Unit::kTime},
                              {"mean_us", "Mean", Unit::kTime},
                              {"share_percent", "Share", Unit::kPercent}},
                  .limit_each = true};
  ViewTable totals{.key = "ranks",
                   .title = "Device time",
                   .columns = {{"rank", "Rank"}, {"count", "Count"}, {"total_us", "Total", Unit::kTime}}};
  std::map<std::pair<TextId, Kind>, Row> all;
  for (const auto& [rank, rows] : ranks_) {
    for (const auto& [key, row] : rows) {
      Row& sum = all.emplace(key, Row{row.name, row.kind, {}}).first->second;
      sum.durations_ns.insert(sum.durations_ns.end(), row.durations_ns.begin(), row.durations_ns.end());
    }
  }
  const auto append_rows = [&](const Cell& rank, const auto& keyed) {
    std::vector<Row> rows;
    for (const auto& [key, row] : keyed) rows.push_back(row);
    append_rank(table, totals, rank, rows);
  };
  if (ranks_.size() > 1) append_rows("all", all);
  for (const auto& [rank, rows] : ranks_) append_rows(std::int64_t{rank}, rows);
  if (all.empty()) view.notes.emplace_back("No device activity");
  view.tables = {std::move(table), std::move(totals)};
  return view;
}

}  // namespace profshim::analysis_detail
