#include "steps_view.h"

#include <algorithm>

#include "analysis/model/statistics.h"
#include "analysis/model/time/active_time.h"
#include "profshim/trace/schema.h"
#include "view_tables.h"

namespace profshim::analysis_detail {
namespace {

bool is_call(Kind kind) { return kind == Kind::kCpuOp || kind == Kind::kRuntime || kind == Kind::kDriver; }

/// In 2021 Kineto wrote steps as operators, but steps are no calls.
std::vector<bool> step_names(const Timeline& timeline) {
  return matching_texts(timeline.texts,
                        [](std::string_view text) { return text.starts_with(schema::name::kStepStart); });
}

ActiveTime calls_of_step_thread(const Timeline& timeline) {
  const std::vector<bool> is_step = step_names(timeline);
  ActiveTime time;
  for (const Slice& s : timeline.slices) {
    if (!is_call(s.kind) || s.asynchronous || s.track != timeline.steps.front().track || is_step[s.name]) continue;
    time.busy.push_back({s.begin_ns, s.end_ns()});
    if (s.communication != kNone) time.communication.push_back({s.begin_ns, s.end_ns()});
  }
  return time;
}

}  // namespace

void StepsView::add(const Timeline& timeline, int rank) {
  RankRows& rows = ranks_[rank];
  add_steps(timeline, rows);
  add_gaps(timeline, rows);
}

void StepsView::add_steps(const Timeline& timeline, RankRows& rows) {
  if (timeline.steps.empty()) return;
  const std::map<std::int64_t, ActiveTime> devices = device_activity(timeline);
  const bool on_device = !devices.empty();
  ActiveTime time;
  if (!on_device) time = calls_of_step_thread(timeline);
  for (const auto& [device, active] : devices) time.append(active);
  time.merge();
  for (const Step& step : timeline.steps) {
    const ActiveTime part = time.part_between(step.begin_ns, step.begin_ns + step.duration_ns);
    StepRow row{.step = step, .on_device = on_device};
    row.busy_ns = covered(part.busy);
    row.communication_ns = covered(part.communication);
    row.compute_ns = on_device ? covered(part.compute) : row.busy_ns - row.communication_ns;
    row.exposed_ns = part.exposed_communication_ns();
    rows.steps.push_back(row);
  }
}

void StepsView::add_gaps(const Timeline& timeline, RankRows& rows) {
  const std::vector<Step>& steps = timeline.steps;
  const std::vector<bool> is_step = step_names(timeline);
  std::vector<const Slice*> running;
  for (const Slice& s : timeline.slices) {
    const bool on_thread = !steps.empty() && s.track == steps.front().track;
    const bool runs = is_device_work(s.kind) ||
                      (is_call(s.kind) && !s.asynchronous && !is_step[s.name] &&
                       (on_thread || steps.empty() || (s.kind == Kind::kCpuOp && s.communication == kNone)));
    if (runs) running.push_back(&s);
  }
  if (running.empty()) return;
  std::sort(running.begin(), running.end(), [](const Slice* a, const Slice* b) {
    return a->begin_ns != b->begin_ns ? a->begin_ns < b->begin_ns : a->duration_ns > b->duration_ns;
  });
  std::int64_t from = running.front()->begin_ns, to = from;
  if (!steps.empty()) {
    from = steps.front().begin_ns;
    for (const Step& step : steps) to = std::max(to, step.begin_ns + step.duration_ns);
  }
  const auto add_gap = [&](std::int64_t begin, std::int64_t end, const Slice* before, const Slice* after) {
    if (static_cast<double>(difference(end, begin)) <= gap_ns_) return;
    Gap gap{.duration_ns = difference(end, begin)};
    if (before != nullptr) gap.before = timeline.name_of(*before);
    if (after != nullptr) gap.after = timeline.name_of(*after);
    const auto later =
        std::partition_point(steps.begin(), steps.end(), [=](const Step& s) { return s.begin_ns <= end; });
    if (later != steps.begin()) {
      const Step& step = *(later - 1);
      gap.step = step.number;
      gap.before_step = step.begin_ns >= begin;
      gap.after_begin_ns = difference(begin, step.begin_ns);
    }
    rows.gaps.push_back(std::move(gap));
  };
  std::int64_t until = from;
  const Slice* last = nullptr;
  for (const Slice* s : running) {
    if (!steps.empty() && s->begin_ns >= to) break;
    if (s->begin_ns > until) add_gap(until, s->begin_ns, last, s);
    if (s->end_ns() > until) {
      until = s->end_ns();
      last = s;
    }
  }
  if (to > until) add_gap(until, to, last, nullptr);
}

void StepsView::add_slowest_table(View& view) const {
  std::map<std::int64_t, std::vector<std::pair<std::int64_t, int>>> by_step;
  for (const auto& [rank, rows] : ranks_) {
    for (const StepRow& row : rows.steps) by_step[row.step.number].emplace_back(row.step.duration_ns, rank);
  }
  ViewTable table{.key = "slowest",
                  .title = "Slowest rank of each step",
                  .columns = {{"step", "Step"},
                              {"ranks", "Ranks"},
                              {"slowest_rank", "Slowest"},
                              {"duration_us", "Duration", Unit::kTime},
                              {"mean_us", "Mean of all", Unit::kTime},
                              {"fastest_us", "Fastest", Unit::kTime}}};
  for (const auto& [number, durations] : by_step) {
    if (durations.size() < 2) continue;
    double sum = 0;
    for (const auto& [duration, rank] : durations) sum += to_us(duration);
    const auto [least, most] = std::minmax_element(durations.begin(), durations.end(),
                                                   [](const auto& a, const auto& b) { return a.first < b.first; });
    table.rows.push_back({number, static_cast<std::int64_t>(durations.size()), std::int64_t{most->second},
                          to_us(most->first), sum / static_cast<double>(durations.size()), to_us(least->first)});
  }
  view.tables.push_back(std::move(table));
}

namespace {

/// Says why steps have no CPU time: "" if all have, or none.
std::string why_without_cpu(const std::map<int, std::int64_t>& without, std::size_t steps) {
  std::int64_t count = 0;
  std::string ranks;
  for (const auto& [rank, number] : without) {
    count += number;
    ranks += (ranks.empty() ? "" : ", ") + std::to_string(number) + " of rank " + std::to_string(rank);
  }
  if (count == 0 || static_cast<std::size_t>(count) == steps) return {};
  return std::to_string(count) + " of " + std::to_string(steps) + " steps have no CPU time (" + ranks +
         "): they or the step before are shorter than 50 us, or no step follows them, or they were found after they "
         "had been recorded";
}

}  // namespace

void StepsView::add_step_table(View& view) const {
  ViewTable table{.key = "steps",
                  .title = "Steps",
                  .columns = {{"rank", "Rank"},
                              {"step", "Step"},
                              {"of", "Side"},
                              {"duration_us", "Duration", Unit::kTime},
                              {"busy_us", "Busy", Unit::kTime},
                              {"compute_us", "Compute", Unit::kTime},
                              {"communication_us", "Communication", Unit::kTime},
                              {"exposed_communication_us", "Exposed", Unit::kTime},
                              {"idle_us", "Idle", Unit::kTime}},
                  .limit_each = true};
  std::vector<Cell> cpu;
  std::vector<Counted> counted;
  std::map<int, std::int64_t> without_cpu;
  bool any_host = false;
  for (const auto& [rank, rows] : ranks_) {
    for (const StepRow& s : rows.steps) {
      const auto duration = static_cast<double>(s.step.duration_ns);
      table.rows.push_back({std::int64_t{rank}, s.step.number, std::string(s.on_device ? "device" : "host"),
                            to_us(duration), to_us(s.busy_ns), to_us(s.compute_ns), to_us(s.communication_ns),
                            to_us(s.exposed_ns), to_us(duration - s.busy_ns)});
      cpu.emplace_back();
      if (s.step.cpu_ns >= 0)
        cpu.back() = to_us(s.step.cpu_ns);
      else
        ++without_cpu[rank];
      counted.push_back(s.step.counted);
      any_host = any_host || !s.on_device;
    }
  }
  if (std::string why = why_without_cpu(without_cpu, cpu.size()); !why.empty()) view.notes.push_back(std::move(why));
  append_if_known({"cpu_us", "CPU", Unit::kTime}, std::move(cpu), table);
  append_counter_columns(counted, table);
  if (table.rows.empty()) view.notes.emplace_back("No steps (ProfilerStep#N) in these traces");
  if (any_host) {
    view.notes.emplace_back(
        "No device activity: the times are those of the thread with the steps, which is busy in recorded calls "
        "and idle otherwise");
  }
  view.tables.push_back(std::move(table));
}

void StepsView::add_rank_table(View& view) const {
  ViewTable table{.key = "ranks",
                  .title = "Steps of each rank",
                  .columns = {{"rank", "Rank"},
                              {"steps", "Steps"},
                              {"mean_us", "Mean", Unit::kTime},
                              {"p50_us", "p50", Unit::kTime},
                              {"p95_us", "p95", Unit::kTime},
                              {"min_us", "Min", Unit::kTime},
                              {"max_us", "Max", Unit::kTime},
                              {"spread_us", "Max - min", Unit::kTime},
                              {"busy_percent", "Busy", Unit::kPercent},
                              {"exposed_communication_percent", "Exposed", Unit::kPercent}}};
  for (const auto& [rank, rows] : ranks_) {
    if (rows.steps.empty()) continue;
    std::vector<std::int64_t> durations;
    double busy = 0, exposed = 0, all = 0;
    for (const StepRow& s : rows.steps) {
      durations.push_back(s.step.duration_ns);
      busy += s.busy_ns;
      exposed += s.exposed_ns;
      all += static_cast<double>(s.step.duration_ns);
    }
    const Statistics s = statistics(durations);
    const auto share = [=](double part) { return all > 0 ? 100 * part / all : 0; };
    table.rows.push_back({std::int64_t{rank}, s.count, s.mean_us, s.p50_us, s.p95_us, s.min_us, s.max_us,
                          s.max_us - s.min_us, share(busy), share(exposed)});
  }
  view.tables.push_back(std::move(table));
}

void StepsView::add_gap_table(View& view) {
  ViewTable gaps{.key = "gaps",
                 .title = "Gaps without activity",
                 .columns = {{"rank", "Rank"},
                             {"where", "Where"},
                             {"step", "Step"},
                             {"duration_us", "Duration", Unit::kTime},
                             {"from_step_begin_us", "From step begin", Unit::kTime},
                             {"before", "Ended before"},
                             {"after", "Began after"}},
                 .limit_each = true};
  for (auto& [rank, rows] : ranks_) {
    std::stable_sort(rows.gaps.begin(), rows.gaps.end(),
                     [](const Gap& a, const Gap& b) { return a.duration_ns > b.duration_ns; });
    for (const Gap& g : rows.gaps) {
      Cell step, from;
      if (g.step >= 0) {
        step = g.step;
        from = to_us(g.after_begin_ns);
      }
      const char* const where = g.step < 0 ? "no step" : g.before_step ? "before" : "in";
      gaps.rows.push_back(
          {std::int64_t{rank}, std::string(where), step, to_us(g.duration_ns), from, g.before, g.after});
    }
  }
  if (gaps.rows.empty()) view.notes.emplace_back("No gaps above the threshold (--gap-us)");
  view.tables.push_back(std::move(gaps));
}

View StepsView::finish() {
  View view{.key = "steps"};
  add_step_table(view);
  add_rank_table(view);
  add_slowest_table(view);
  add_gap_table(view);
  return view;
}

}  // namespace profshim::analysis_detail
