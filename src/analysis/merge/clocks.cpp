#include "clocks.h"

#include <algorithm>
#include <cmath>

#include "analysis/model/time/clock_fit.h"

namespace profshim::analysis_detail {
namespace {

struct Bounds {
  std::vector<ClockBound> at_least, at_most, ends;
};

/// Margin added to each bound on a clock difference: processes on one machine differed by 0.3 us.
constexpr double kUneven_ns = 1000;

/// Larger contradictions between clocks are blamed on collectives matched by counting.
constexpr double kDoubt_ns = 100'000;

/// Both lists must be sorted by key.
template <class Entry, class Pair>
void in_both(const std::vector<Entry>& a, const std::vector<Entry>& b, const Pair& pair) {
  auto at = b.begin();
  for (const Entry& entry : a) {
    while (at != b.end() && at->key < entry.key) ++at;
    if (at != b.end() && at->key == entry.key) pair(entry, *at);
  }
}

class Comparison {
 public:
  Comparison(const RankTrace& reference, const RankTrace& other) : reference_(reference), other_(other) {}

  Bounds bounds() {
    in_both(reference_.sync_points, other_.sync_points, [this](const SyncPoint& ours, const SyncPoint& theirs) {
      reference_first(ours.begin_ns, theirs.end_ns);
      other_first(theirs.begin_ns, ours.end_ns);
      found_.ends.push_back({at(theirs.end_ns), ahead(ours.end_ns, theirs.end_ns)});
    });
    for (const auto& [key, ours] : reference_.channels) {
      const auto theirs = other_.channels.find(key);
      if (theirs == other_.channels.end()) continue;
      messages(ours.sent, theirs->second.received, true);
      messages(theirs->second.sent, ours.received, false);
    }
    in_both(reference_.requests, other_.served,
            [this](const Endpoint& sent, const Endpoint& served) { reference_first(sent.at_ns, served.at_ns); });
    in_both(other_.served_until, reference_.answers,
            [this](const Endpoint& done, const Endpoint& answer) { other_first(done.at_ns, answer.at_ns); });
    in_both(other_.requests, reference_.served,
            [this](const Endpoint& sent, const Endpoint& served) { other_first(sent.at_ns, served.at_ns); });
    in_both(reference_.served_until, other_.answers,
            [this](const Endpoint& done, const Endpoint& answer) { reference_first(done.at_ns, answer.at_ns); });
    return std::move(found_);
  }

 private:
  std::int64_t at(std::int64_t theirs) const { return bounded_sum(theirs, other_.metadata.base_time_ns); }
  double ahead(std::int64_t ours, std::int64_t theirs) const {
    return static_cast<double>(bounded_sum(ours, reference_.metadata.base_time_ns)) - static_cast<double>(at(theirs));
  }
  void reference_first(std::int64_t ours, std::int64_t theirs) {
    found_.at_least.push_back({at(theirs), ahead(ours, theirs) - kUneven_ns});
  }
  void other_first(std::int64_t theirs, std::int64_t ours) {
    found_.at_most.push_back({at(theirs), ahead(ours, theirs) + kUneven_ns});
  }
  /// MPI keeps the order of messages. If the counts differ, a trace lacks messages, so none is used.
  void messages(const std::vector<Endpoint>& sent, const std::vector<Endpoint>& received, bool reference_sends) {
    if (sent.size() != received.size()) return;
    for (std::size_t i = 0; i < sent.size(); ++i) {
      if (reference_sends) {
        reference_first(sent[i].at_ns, received[i].at_ns);
      } else {
        other_first(sent[i].at_ns, received[i].at_ns);
      }
    }
  }

  const RankTrace& reference_;
  const RankTrace& other_;
  Bounds found_;
};

/// True if the bounds allow clocks equal within `slack_ns`. Equal host names do not prove one clock.
bool may_be_one_clock(const Bounds& bounds, double slack_ns) {
  const auto at_least = std::max_element(bounds.at_least.begin(), bounds.at_least.end(),
                                         [](const auto& a, const auto& b) { return a.ahead_ns < b.ahead_ns; });
  const auto at_most = std::min_element(bounds.at_most.begin(), bounds.at_most.end(),
                                        [](const auto& a, const auto& b) { return a.ahead_ns < b.ahead_ns; });
  return (at_least == bounds.at_least.end() || at_least->ahead_ns <= slack_ns) &&
         (at_most == bounds.at_most.end() || at_most->ahead_ns >= -slack_ns);
}

std::string name_of(const RankTrace& trace) {
  return trace.metadata.rank >= 0 ? "rank " + std::to_string(trace.metadata.rank) : trace.path;
}

class Alignment {
 public:
  Alignment(std::vector<RankTrace>& traces, const MergeOptions& options, std::vector<MergedRank>& ranks,
            std::vector<ClockMap>& maps, std::vector<std::string>& warnings)
      : traces_(traces), options_(options), ranks_(ranks), maps_(maps), warnings_(warnings) {}

  bool run(std::string& error) {
    maps_.resize(traces_.size());
    for (std::size_t i = 0; i < traces_.size(); ++i) maps_[i] = {traces_[i].metadata.base_time_ns, 0, 0, 0};
    if (traces_.empty()) return true;
    ranks_[0].clock = "reference";
    ranks_[0].error_us = 0;
    placed_ = {0};
    std::vector<std::size_t> open;
    for (std::size_t i = 1; i < traces_.size(); ++i) open.push_back(i);
    if (options_.sync == ClockSync::kCollective) place_by_moments(open);
    for (const std::size_t i : open) {
      if (!place_without(i, error)) return false;
    }
    return true;
  }

 private:
  void place_by_moments(std::vector<std::size_t>& open) {
    for (std::size_t from = 0; from < placed_.size(); ++from) {
      std::vector<std::size_t> left;
      for (const std::size_t i : open) {
        if (place(i, placed_[from])) {
          placed_.push_back(i);
        } else {
          left.push_back(i);
        }
      }
      open = std::move(left);
    }
  }

  bool on_one_host(std::size_t i, std::size_t other) const {
    const RankTrace &a = traces_[i], &b = traces_[other];
    return !a.metadata.host.empty() && a.metadata.host == b.metadata.host && a.has_wall_clock && b.has_wall_clock;
  }

  /// If sync points contradict each other or one host's clock, drops those matched by counting: miscounted steps are
  /// likelier than a clock that was set.
  void drop_miscounted(std::size_t i, std::size_t reference, Bounds& bounds, const ClockFit& fit) {
    const bool doubtful =
        !fit.consistent ? fit.error_ns > kDoubt_ns : on_one_host(i, reference) && !may_be_one_clock(bounds, kDoubt_ns);
    const auto counted = [](const SyncPoint& point) { return point.counted != 0; };
    if (!fit.known || !doubtful || std::erase_if(traces_[i].sync_points, counted) == 0) return;
    warnings_.push_back(name_of(traces_[i]) + ": its torch.distributed collectives do not match those of " +
                        name_of(traces_[reference]) + " step by step; its clock is aligned without them");
    bounds = Comparison(traces_[reference], traces_[i]).bounds();
  }

  bool place(std::size_t i, std::size_t reference) {
    const RankTrace& trace = traces_[i];
    const std::int64_t first = bounded_sum(trace.first_ns, trace.metadata.base_time_ns),
                       last = bounded_sum(trace.last_ns, trace.metadata.base_time_ns);
    Bounds bounds = Comparison(traces_[reference], trace).bounds();
    const auto fitted = [&] { return fit_clock(bounds.at_least, bounds.at_most, bounds.ends, first, last); };
    drop_miscounted(i, reference, bounds, fitted());
    ClockFit fit = fitted();
    if (!fit.known) return false;
    MergedRank& rank = ranks_[i];
    rank.moments = bounds.at_least.size() + bounds.at_most.size();
    double error_ns = fit.error_ns;
    if (on_one_host(i, reference) && may_be_one_clock(bounds, 0)) {
      for (const std::int64_t at : {first, last})
        error_ns = std::max(
            error_ns, std::fabs(fit.offset_ns + fit.drift * static_cast<double>(at - fit.origin_ns)) + fit.error_ns);
      fit.offset_ns = fit.drift = 0;
      rank.clock = "same host";
    } else {
      rank.clock = "collectives";
    }
    if (!fit.consistent) {
      warnings_.push_back(name_of(trace) + ": its clock contradicts that of " + name_of(traces_[reference]) +
                          ": name traces of one job; if they are, a clock was set during the run");
    }
    const ClockMap& onwards = maps_[reference];
    const double there = static_cast<double>(fit.origin_ns - onwards.origin_ns) + fit.offset_ns;
    set_map(i, {trace.metadata.base_time_ns, fit.origin_ns, fit.offset_ns + onwards.offset_ns + onwards.drift * there,
                fit.drift + onwards.drift});
    rank.error_us = error_ns / 1e3 + std::max(ranks_[reference].error_us, 0.0);
    return true;
  }

  void set_map(std::size_t i, const ClockMap& map) {
    maps_[i] = map;
    ranks_[i].offset_us = map.offset_ns / 1e3;
    ranks_[i].offset_at_ns = map.origin_ns;
    ranks_[i].drift_ppm = map.drift * 1e6;
  }

  bool place_without(std::size_t i, std::string& error) {
    const RankTrace& trace = traces_[i];
    for (const std::size_t other : placed_) {
      if (trace.metadata.host.empty() || trace.metadata.host != traces_[other].metadata.host) continue;
      if (!trace.has_wall_clock || !traces_[other].has_wall_clock) continue;
      ClockMap map = maps_[other];
      map.base_ns = trace.metadata.base_time_ns;
      set_map(i, map);
      ranks_[i].clock = "same host";
      return true;
    }
    const RankTrace& reference = traces_[0];
    const bool both = trace.has_wall_clock && reference.has_wall_clock;
    if (both || options_.sync == ClockSync::kNone || options_.assume_clock) {
      ranks_[i].clock = both ? "anchors" : "assumed";
      return true;
    }
    const RankTrace& without = trace.has_wall_clock ? reference : trace;
    error = without.path + ": the times are not wall-clock times" +
            (options_.sync == ClockSync::kCollective
                 ? ", and its collectives and messages do not suffice to align the ranks"
                 : ", which --sync anchors needs") +
            "; --assume-clock merges with unchanged times";
    return false;
  }

  std::vector<RankTrace>& traces_;
  const MergeOptions& options_;
  std::vector<MergedRank>& ranks_;
  std::vector<ClockMap>& maps_;
  std::vector<std::string>& warnings_;
  std::vector<std::size_t> placed_;
};

}  // namespace

std::int64_t ClockMap::operator()(std::int64_t ns) const {
  const std::int64_t at = bounded_sum(ns, base_ns);
  const double ahead = offset_ns + drift * (static_cast<double>(at) - static_cast<double>(origin_ns));
  constexpr double kYears = 1e18;
  return bounded_sum(at, std::llround(std::clamp(ahead, -kYears, kYears)));
}

bool align_clocks(std::vector<RankTrace>& traces, const MergeOptions& options, std::vector<MergedRank>& ranks,
                  std::vector<ClockMap>& maps, std::vector<std::string>& warnings, std::string& error) {
  return Alignment(traces, options, ranks, maps, warnings).run(error);
}

}  // namespace profshim::analysis_detail
