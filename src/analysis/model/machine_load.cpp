#include "machine_load.h"

#include <algorithm>
#include <map>
#include <set>

#include "profshim/base/text/number_text.h"

namespace profshim::analysis_detail {
namespace {

/// `waited` and later fields are sums over ranks, divided by the measured time.
struct HostLoad {
  double ranks = 0, cpus = 0, waited = 0, process = 0, machine = 0, stolen = 0;
};

double increase(double base, double run) { return std::max(run - base, 0.0); }

}  // namespace

std::optional<WindowLoad> window_load(const Timeline& timeline) {
  if (!timeline.recording || !timeline.recording->cpu) return std::nullopt;
  const RecordedCpu& cpu = *timeline.recording->cpu;
  return WindowLoad{timeline.host,  timeline.rank,  cpu.measured_us, cpu.waited_us,
                    cpu.process_us, cpu.machine_us, cpu.stolen_us,   cpu.cpus};
}

std::optional<MachineLoad> machine_load(const std::vector<WindowLoad>& windows, std::size_t ranks) {
  std::map<std::pair<std::string, int>, WindowLoad> by_rank;
  std::set<int> known;
  for (const WindowLoad& w : windows) {
    WindowLoad& sum = by_rank[{w.host, w.rank}];
    sum.measured_us += w.measured_us;
    sum.waited_us += w.waited_us;
    sum.process_us += w.process_us;
    sum.machine_us += w.machine_us;
    sum.stolen_us += w.stolen_us;
    sum.cpus = std::max(sum.cpus, w.cpus);
    known.insert(w.rank);
  }
  if (known.size() != ranks || ranks == 0) return std::nullopt;
  std::map<std::string, HostLoad> hosts;
  for (const auto& [who, w] : by_rank) {
    HostLoad& host = hosts[who.first];
    ++host.ranks;
    host.cpus = std::max(host.cpus, w.cpus);
    host.waited += w.waited_us / w.measured_us;
    host.process += w.process_us / w.measured_us;
    host.machine += w.machine_us / w.measured_us;
    host.stolen += w.stolen_us / w.measured_us;
  }
  MachineLoad load;
  for (const auto& [name, host] : hosts) {
    const double machine = host.machine / host.ranks, stolen = host.stolen / host.ranks;
    // Windows differ a little, so the ranks' CPU use may exceed the host's CPUs.
    const double own = std::min(host.process, host.cpus);
    load.cpus += host.cpus;
    load.own += own;
    load.waited += host.waited;
    load.others += std::max(machine - own, 0.0);
    if (machine + stolen > 0) load.stolen += stolen * std::min(own / (machine + stolen), 1.0);
  }
  return load;
}

double cpus_used(const std::vector<WindowLoad>& windows, int rank) {
  double used = 0, measured = 0;
  for (const WindowLoad& w : windows) {
    if (w.rank != rank) continue;
    used += w.process_us;
    measured += w.measured_us;
  }
  return measured > 0 ? used / measured : -1;
}

double stolen_us(const std::optional<MachineLoad>& base, const std::optional<MachineLoad>& run, double base_us,
                 double run_us) {
  return base && run ? increase(base->stolen * base_us, run->stolen * run_us) : 0;
}

double explained_us(const std::optional<MachineLoad>& base, const std::optional<MachineLoad>& run, double base_us,
                    double run_us) {
  if (!base || !run) return 0;
  const double others = increase(base->others, run->others);
  const double waited_us = std::min(increase(base->waited * base_us, run->waited * run_us), 2 * run->others * run_us);
  const double shared_core = std::min(others * run->own / std::max(run->cpus, 1.0), 1.0);
  return waited_us + stolen_us(base, run, base_us, run_us) + shared_core * base_us;
}

std::string load_words(const MachineLoad& base, const MachineLoad& run) {
  std::string words = "other processes used " + fixed_text(run.others, 1) + " of " + fixed_text(run.cpus, 0) +
                      " CPUs (before " + fixed_text(base.others, 1) + ")";
  const auto add = [&](std::string_view begin, double after, std::string_view end, double before) {
    if (increase(before, after) < 0.01) return;
    words.append(begin).append(fixed_text(after, 2)).append(end);
    words += " (before " + fixed_text(before, 2) + ")";
  };
  add(", threads of the job waited for a CPU, together ", run.waited, " s per second", base.waited);
  add(", the hypervisor took ", run.stolen, " CPUs from the job", base.stolen);
  return words;
}

}  // namespace profshim::analysis_detail
