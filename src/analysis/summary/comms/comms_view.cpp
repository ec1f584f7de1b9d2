#include "comms_view.h"

#include <algorithm>
#include <optional>

#include "analysis/model/collective_family.h"
#include "analysis/model/statistics.h"
#include "analysis/summary/view_tables.h"
#include "calls.h"
#include "match_calls.h"
#include "profshim/trace/bus_factor.h"

namespace profshim::analysis_detail {
namespace {

std::optional<double> known_bus_factor(Bus bus, std::int64_t ranks) {
  if (bus == Bus::kOne) return bus_factor(0, 1);
  if (bus == Bus::kUnknown || ranks < 1) return std::nullopt;
  return bus_factor(bus == Bus::kOthers ? 1 : 2, ranks);
}

struct Sizes {
  std::int64_t count = 0, least = -1, most = -1;
  double sum = 0;

  void add(std::int64_t bytes) {
    if (bytes < 0) return;
    least = count == 0 ? bytes : std::min(least, bytes);
    most = std::max(most, bytes);
    sum += static_cast<double>(bytes);
    ++count;
  }
};

ViewTable calls_table() {
  return {.key = "comms",
          .title = "Collectives and messages",
          .columns = {{"group", "Group"},
                      {"function", "Function"},
                      {"where", "Where"},
                      {"group_size", "Ranks"},
                      {"count", "Count"},
                      {"unfinished", "Unfinished"},
                      {"min_bytes", "Min size", Unit::kBytes},
                      {"mean_bytes", "Mean size", Unit::kBytes},
                      {"max_bytes", "Max size", Unit::kBytes},
                      {"total_us", "Total", Unit::kTime},
                      {"mean_us", "Mean", Unit::kTime},
                      {"trimmed_mean_us", "Trimmed mean", Unit::kTime},
                      {"algorithm_gb_per_s", "Algorithm", Unit::kRate},
                      {"bus_gb_per_s", "Bus", Unit::kRate}}};
}

std::vector<Cell> calls_row(const CommsRowKey& key, const std::string& function, const std::string& group,
                            std::int64_t group_size, const std::vector<CommsCall>& calls) {
  const CollectiveFamily family = collective_family(function);
  std::vector<std::int64_t> durations;
  Sizes sizes;
  double moved_bytes = 0, moved_ns = 0;
  for (const CommsCall& call : calls) {
    std::int64_t bytes = call.bytes;
    if (family.times_ranks && bytes > 0 && group_size > 0 && __builtin_mul_overflow(bytes, group_size, &bytes)) {
      bytes = -1;
    }
    sizes.add(bytes);
    if (call.unfinished) continue;
    durations.push_back(call.duration_ns);
    if (bytes <= 0) continue;
    moved_bytes += static_cast<double>(bytes);
    moved_ns += static_cast<double>(call.duration_ns);
  }
  const Statistics s = statistics(durations);
  Cell ranks, min, mean, max, algorithm, bus;
  if (group_size > 0) ranks = group_size;
  if (sizes.count > 0) {
    min = sizes.least;
    mean = sizes.sum / static_cast<double>(sizes.count);
    max = sizes.most;
  }
  if (moved_ns > 0 && !key.only_starts && !family.uneven && !(family.times_ranks && group_size <= 0)) {
    algorithm = moved_bytes / moved_ns;  // bytes per nanosecond are GB/s
    if (const auto factor = known_bus_factor(family.bus, group_size)) bus = *factor * moved_bytes / moved_ns;
  }
  const char* const where = key.on_device ? "device" : key.only_starts ? "host, starts it" : "host";
  const auto count = static_cast<std::int64_t>(calls.size());
  return {group,      function,  std::string(where), ranks,     count, count - s.count, min, mean, max,
          s.total_us, s.mean_us, s.trimmed_mean_us,  algorithm, bus};
}

}  // namespace

void CommsView::add(const Timeline& timeline, int rank) { collect_calls(calls_, timeline, rank); }

View CommsView::finish() {
  const std::map<CommsGroupKey, std::string> labels = calls_.group_labels();
  CallMatcher matcher(calls_, labels, observe_);
  ViewTable table = calls_table();
  for (auto& [key, calls] : calls_.rows) {
    table.rows.push_back(calls_row(key, std::string(calls_.texts[key.function]), labels.at(key.group),
                                   calls_.groups.at(key.group).size, calls));
    matcher.match(key, calls);
  }
  matcher.add_absent_notes();
  sort_descending(table, "total_us");
  if (calls_.rows.empty()) matcher.notes.emplace_back("No collectives");
  return {.key = "comms",
          .tables = {std::move(table), std::move(matcher.waits), std::move(matcher.never_entered)},
          .notes = std::move(matcher.notes)};
}

}  // namespace profshim::analysis_detail
