#include "merged.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <fstream>

#include "e2e/consumers/readers.h"
#include "seen_trace.h"

namespace profshim::e2e {
namespace {

/// `at` and `end` delimit the number; `at` is npos if `line` lacks `key`.
double number_behind(const std::string& line, const std::string& key, std::size_t& at, std::size_t& end) {
  at = line.find("\"" + key + "\":");
  if (at == std::string::npos) return 0;
  at = line.find_first_not_of(' ', at + key.size() + 3);
  end = line.find_first_not_of("-0123456789.", at);
  return std::stod(line.substr(at, end - at));
}

}  // namespace

SeenTrace merged(const std::string& out, std::vector<std::string> paths, Outcome* said) {
  paths.insert(paths.begin(), {"merge", "-o", out});
  const Outcome outcome = profshim(paths);
  EXPECT_EQ(outcome.ending(), "exit 0") << outcome.err;
  if (said != nullptr) *said = outcome;
  return read_seen(out);
}

std::map<std::int64_t, Arrow> arrows(const SeenTrace& trace) {
  std::map<std::int64_t, Arrow> found;
  for (const SeenEvent& e : trace.events) {
    if (e.category == "rank_flow") (e.phase == "s" ? found[e.id].from : found[e.id].to) = &e;
  }
  return found;
}

const SeenEvent* slice_at(const SeenTrace& trace, const SeenEvent& at) {
  const SeenEvent* found = nullptr;
  for (const SeenEvent& e : trace.events) {
    const bool holds = e.phase == "X" && e.pid == at.pid && e.tid == at.tid && e.ts_ns <= at.ts_ns &&
                       at.ts_ns < e.ts_ns + std::max<std::int64_t>(e.duration_ns, 1);
    if (holds && (found == nullptr || e.ts_ns >= found->ts_ns)) found = &e;
  }
  return found;
}

Shift write_shifted(const std::string& from, const std::string& to, double offset_us, double drift_ppm) {
  std::ifstream in(from);
  std::ofstream out(to);
  double first = -1, base_ns = 0, ts = 0;
  const auto shown = [&](double t) { return t - offset_us + (t - first) * drift_ppm * 1e-6; };
  const auto put = [](std::string& line, std::size_t at, std::size_t end, double us) {
    char text[64];
    std::snprintf(text, sizeof text, "%.3f", us);
    line.replace(at, end - at, text);
  };
  for (std::string line; std::getline(in, line);) {
    if (line.find("\"host_name\"") != std::string::npos) line = R"("host_name": "elsewhere",)";
    std::size_t at = 0, end = 0;
    if (const double base = number_behind(line, "baseTimeNanoseconds", at, end); base > 0) base_ns = base;
    // PyTorch's traces have "ts" and "dur" on separate lines.
    const double begin = number_behind(line, "ts", at, end);
    if (at != std::string::npos) {
      ts = begin;
      if (first < 0) first = ts;
      put(line, at, end, shown(ts));
    }
    const double dur = number_behind(line, "dur", at, end);
    if (at != std::string::npos) put(line, at, end, shown(ts + dur) - shown(ts));
    out << line << '\n';
  }
  return {offset_us, drift_ppm, base_ns + (first - offset_us) * 1e3};
}

Placed placed(const SeenTrace& merged, int rank, const Shift& shift) {
  const std::string ranks = merged.property("merged");
  const std::size_t of_rank = ranks.find("\"rank\":" + std::to_string(rank) + ",");
  EXPECT_NE(of_rank, std::string::npos) << ranks;
  if (of_rank == std::string::npos) return {};
  const std::string of = ranks.substr(of_rank, ranks.find("\"error_us\":", of_rank) + 40 - of_rank);
  const auto number = [&](const std::string& key) {
    std::size_t at = 0, end = 0;
    return number_behind(of, key, at, end);
  };
  const double since_us = (number("offset_at_ns") - shift.began_ns) / 1e3;
  const double truth_us = shift.offset_us - since_us * shift.drift_ppm * 1e-6;
  const std::size_t clock = of.find("\"clock\":\"") + 9;
  return {.clock = of.substr(clock, of.find('"', clock) - clock),
          .moments = number("moments"),
          .error_us = number("error_us"),
          .mistake_us = number("offset_us") - truth_us};
}

}  // namespace profshim::e2e
