// Merging: what has to be known of each file is gathered first, then they are written one behind the other, each event
// with its rank's processes, on the common clock.
#include "profshim/merge.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstring>
#include <limits>
#include <memory>
#include <mutex>
#include <set>
#include <thread>
#include <unordered_map>

#include "merge_arrows.h"
#include "merge_clocks.h"
#include "merge_facts.h"
#include "profshim/trace.h"

namespace profshim {
namespace {

using analysis_detail::ArrowEnd;
using analysis_detail::ClockMap;
using analysis_detail::MergeFacts;
using Kind = ReadEvent::ReadArg::Kind;

// ---- what is to be merged
// --------------------------------------------------------------------------------------------

/// All files, by several threads; in order of rank.
std::vector<MergeFacts> gather(const MergeOptions& options, std::atomic<std::uint64_t>& seen) {
  std::vector<MergeFacts> facts(options.paths.size());
  std::atomic<std::size_t> next{0}, done{0};
  std::mutex telling;
  const auto work = [&] {
    for (std::size_t i = next++; i < facts.size(); i = next++) {
      facts[i] = analysis_detail::gather_facts(options.paths[i], {});
      seen += facts[i].events;
      const std::lock_guard one_at_a_time(telling);
      if (options.on_progress) options.on_progress(static_cast<double>(++done) / static_cast<double>(facts.size()) / 2);
    }
  };
  std::vector<std::thread> threads;
  const std::size_t wanted = std::min<std::size_t>(std::max(1u, std::thread::hardware_concurrency()), facts.size());
  for (std::size_t i = 1; i < wanted; ++i) threads.emplace_back(work);
  work();
  for (std::thread& thread : threads) thread.join();
  std::stable_sort(facts.begin(), facts.end(), [](const MergeFacts& a, const MergeFacts& b) {
    // Those that do not say come last, in the order in which they were given.
    return static_cast<unsigned>(a.rank) < static_cast<unsigned>(b.rank);
  });
  return facts;
}

/// "" when these are traces of one job.
std::string refusal(const std::vector<MergeFacts>& facts) {
  if (facts.size() < 2) return "one trace is nothing to merge: give those of several ranks";
  for (const MergeFacts& f : facts) {
    if (!f.error.empty()) return f.path + ": " + f.error;
  }
  for (std::size_t i = 1; i < facts.size(); ++i) {
    const MergeFacts &a = facts[i - 1], &b = facts[i];
    if (b.rank >= 0 && a.rank == b.rank) {
      return a.path + " and " + b.path + " are both of rank " + std::to_string(b.rank) +
             ": merge the ranks of one window";
    }
    // Hosts that have no number of a job in common make names of their own.
    if (a.host == b.host && !a.run_name.empty() && !b.run_name.empty() && a.run_name != b.run_name)
      return a.path + " is of run " + a.run_name + ", " + b.path + " of run " + b.run_name;
    if (a.world_size > 0 && b.world_size > 0 && a.world_size != b.world_size) {
      return a.path + " is of a job of " + std::to_string(a.world_size) + " ranks, " + b.path + " of one of " +
             std::to_string(b.world_size);
    }
  }
  return "";
}

// ---- numbers that may not meet
// ---------------------------------------------------------------------------------------

/// Of one file in the merged one.
struct Renumbering {
  std::unordered_map<std::int64_t, std::int64_t> pids;
  /// Added to correlation ids, External ids and ids of flows alike: those of a launch and of its arrow are equal.
  std::int64_t added = 0;
  std::uint64_t file = 0;

  std::int64_t id(std::int64_t id) const {
    if (id >= 0 && id <= analysis_detail::kMostCountedId) return id + added;
    // Of a text: readers keep numbers as doubles.
    constexpr std::int64_t kExact = std::int64_t{1} << 52;
    const std::uint64_t hash = (static_cast<std::uint64_t>(id) ^ file * 0x9e3779b97f4a7c15ull) * 0xbf58476d1ce4e5b9ull;
    return static_cast<std::int64_t>(hash >> 12) | kExact;
  }
};

/// Numbers below are those of GPUs: in Kineto's traces, and to readers that tell them by it.
constexpr std::int64_t kFirstHostPid = 64;

std::vector<Renumbering> renumber(const std::vector<MergeFacts>& facts, std::vector<MergedRank>& ranks,
                                  std::int64_t& next_id) {
  constexpr std::int64_t kRoundly = 1000;
  std::size_t most = 0;
  for (const MergeFacts& f : facts) most = std::max(most, f.pids.size());
  const std::int64_t apart = (static_cast<std::int64_t>(most) + kFirstHostPid + kRoundly - 1) / kRoundly * kRoundly;
  const bool all_have_ranks = facts.back().rank >= 0;
  std::vector<Renumbering> all(facts.size());
  std::int64_t added = 0;
  for (std::size_t i = 0; i < facts.size(); ++i) {
    all[i].file = i;
    all[i].added = added;
    ranks[i].first_pid = (all_have_ranks ? facts[i].rank : static_cast<std::int64_t>(i)) * apart;
    std::int64_t next_host = ranks[i].first_pid + kFirstHostPid;
    for (const std::int64_t pid : facts[i].pids) {
      const bool is_gpu = pid >= 0 && pid < kFirstHostPid;
      all[i].pids[pid] = is_gpu ? ranks[i].first_pid + pid : next_host++;
    }
    const std::int64_t largest = std::max({facts[i].most_correlation, facts[i].most_external, facts[i].most_id});
    added = analysis_detail::sum_ns(added, analysis_detail::sum_ns(largest, 1));
  }
  next_id = added;
  return all;
}

/// Readers differ in whether a thread's number is its process's own affair: no two processes have one in common.
class ThreadNumbers {
 public:
  std::int64_t of(std::int64_t pid, std::int64_t tid) {
    if (pid == last_pid_ && tid == last_tid_) return last_;
    const auto [owner, is_new] = owners_.try_emplace(tid, pid);
    last_pid_ = pid;
    last_tid_ = tid;
    return last_ = owner->second == pid ? tid : other(pid, tid);
  }

 private:
  std::int64_t other(std::int64_t pid, std::int64_t tid) {
    const auto [place, is_new] = others_[pid].try_emplace(tid, 0);
    if (is_new) {
      do {
        place->second = next_++;
      } while (!owners_.try_emplace(place->second, pid).second);
    }
    return place->second;
  }
  std::unordered_map<std::int64_t, std::int64_t> owners_;  // the process that has a number
  std::unordered_map<std::int64_t, std::unordered_map<std::int64_t, std::int64_t>> others_;
  std::int64_t next_ = 100'000'000;  // above any that a system gives
  std::int64_t last_pid_ = -1, last_tid_ = -1, last_ = -1;
};

// ---- writing
// ---------------------------------------------------------------------------------------------------------

class FileCopy {
 public:
  FileCopy(TraceWriter& out, const MergeFacts& facts, const MergedRank& rank, const Renumbering& numbers,
           const ClockMap& clock, const std::vector<ArrowEnd>& arrows, std::int64_t arrows_from, ThreadNumbers& threads)
      : out_(out),
        facts_(facts),
        numbers_(numbers),
        clock_(clock),
        arrows_(arrows),
        arrows_from_(arrows_from),
        threads_(threads),
        title_(rank.rank >= 0 ? "rank " + std::to_string(rank.rank) : facts.path) {}

  void write(const ReadEvent& read) {
    TraceEvent e;
    e.phase = read.phase.empty() ? 'X' : read.phase[0];
    e.other_category = read.category;
    e.name = read.name;
    place(read, e);
    if (read.has_ts) {
      e.begin_ns = clock_(read.ts_ns);
      if (read.has_duration)
        e.duration_ns =
            clock_(analysis_detail::sum_ns(read.ts_ns, std::max<std::int64_t>(read.duration_ns, 0))) - e.begin_ns;
    } else {
      e.begin_ns = clock_(facts_.first_ns);
    }
    if (read.has_id) e.id = static_cast<std::uint64_t>(numbers_.id(read.id));
    if (!read.scope.empty()) e.scope = read.scope[0];
    copy_args(read, e);
    e.args = args_;
    out_.write(e);
    write_arrows(read, e);
    ++event_;
  }

 private:
  void place(const ReadEvent& read, TraceEvent& e) {
    if (read.pid_is_number && read.tid_is_number) {
      e.pid = numbers_.pids.at(read.pid);
      e.tid = threads_.of(e.pid, read.tid);
      return;
    }
    // "Spans", "Traces": one for each rank. Kineto's mark of the end has two empty texts.
    e.text_ids = true;
    pid_text_ = read.pid_is_number ? std::to_string(numbers_.pids.at(read.pid)) : std::string(read.pid_text);
    if (!pid_text_.empty() && !read.pid_is_number) pid_text_ += " (" + title_ + ")";
    tid_text_ = read.tid_is_number ? std::to_string(read.tid) : std::string(read.tid_text);
    e.pid_text = pid_text_;
    e.tid_text = tid_text_;
  }

  void copy_args(const ReadEvent& read, const TraceEvent& e) {
    args_.clear();
    for (const auto& arg : read.args) args_.push_back({arg.key, value_of(arg)});
    if (read.phase != "M") return;
    if (read.name == "process_name") {
      for (Arg& arg : args_) {
        if (arg.key != "name" || !std::holds_alternative<std::string_view>(arg.value)) continue;
        name_ = title_ + ": " + std::string(std::get<std::string_view>(arg.value));
        arg.value = std::string_view{name_};
      }
    } else if (read.name == "process_sort_index") {
      for (Arg& arg : args_)
        if (arg.key == "sort_index") arg.value = e.pid;
    }
  }

  decltype(Arg::value) value_of(const ReadEvent::ReadArg& arg) const {
    if (arg.kind == Kind::kString) return arg.text;
    if (arg.kind == Kind::kInt && arg.integer > 0) {
      if (arg.key == "correlation" || arg.key == "External id" || arg.key == "wait_on_cuda_event_record_corr_id")
        return analysis_detail::sum_ns(arg.integer, numbers_.added);
    }
    return RawJson{arg.text};  // as it was written
  }

  void write_arrows(const ReadEvent& read, const TraceEvent& slice) {
    for (; next_arrow_ < arrows_.size() && arrows_[next_arrow_].event == event_; ++next_arrow_) {
      const ArrowEnd& end = arrows_[next_arrow_];
      TraceEvent e;
      e.phase = end.starts ? 's' : 'f';
      e.category = Category::kRankFlow;
      e.name = name_of(end.kind);
      e.pid = slice.pid;
      e.tid = slice.tid;
      // Behind a slice's begin and before its end: rounding must not carry it outside.
      const std::int64_t last =
          read.phase == "X" ? analysis_detail::sum_ns(slice.begin_ns, std::max<std::int64_t>(slice.duration_ns - 1, 0))
                            : slice.begin_ns;
      e.begin_ns = read.phase == "X" ? std::clamp(clock_(end.at_ns), slice.begin_ns, last) : clock_(end.at_ns);
      e.id = static_cast<std::uint64_t>(arrows_from_) + end.arrow;
      out_.write(e);
    }
  }

  TraceWriter& out_;
  const MergeFacts& facts_;
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

std::string clock_json(const MergedRank& rank) {
  char numbers[160];
  const int n = std::snprintf(numbers, sizeof numbers,
                              ", \"offset_us\": %.3f, \"offset_at_ns\": %lld, \"drift_ppm\": %.4f, \"error_us\": ",
                              rank.offset_us, static_cast<long long>(rank.offset_at_ns), rank.drift_ppm);
  std::string text(numbers, static_cast<std::size_t>(n));
  if (rank.error_us < 0) return text + "null";
  std::snprintf(numbers, sizeof numbers, "%.3f", rank.error_us);
  return text + numbers;
}

std::string ranks_json(const std::vector<MergedRank>& ranks) {
  std::string text = "[";
  for (const MergedRank& rank : ranks) {
    if (text.size() > 1) text += ",\n    ";
    text += "{\"rank\": " + std::to_string(rank.rank) + ", \"file\": " + json_string(rank.path);
    text += ", \"host\": " + json_string(rank.host) + ", \"first_pid\": " + std::to_string(rank.first_pid);
    text += ", \"events\": " + std::to_string(rank.events) + ", \"clock\": " + json_string(rank.clock);
    text += ", \"moments\": " + std::to_string(rank.moments) + clock_json(rank) + "}";
  }
  return text + "]";
}

/// Those of all hosts, each once: by their text, since ids meet.
std::vector<std::string> devices_of(const std::vector<MergeFacts>& facts) {
  std::vector<std::string> devices;
  std::set<std::string> ids;
  for (const MergeFacts& f : facts) {
    for (const std::string& device : f.devices) {
      std::string id;
      json_leaves(device, [&](std::string_view path, const ReadEvent::ReadArg& value) {
        if (path == "id") id = value.text;
      });
      if (ids.insert(id).second) devices.push_back(device);
    }
  }
  return devices;
}

TraceHeader header_of(const std::vector<MergeFacts>& facts, const std::vector<ClockMap>& clocks,
                      const MergeResult& result, const std::string& out) {
  TraceHeader header;
  std::int64_t first = std::numeric_limits<std::int64_t>::max();
  for (std::size_t i = 0; i < facts.size(); ++i) first = std::min(first, clocks[i](facts[i].first_ns));
  header.base_time_ns = base_time_for(std::max<std::int64_t>(first, 0));
  header.rank.rank = std::max(facts[0].rank, 0);
  header.rank.world_size = facts[0].world_size;
  header.rank.host = facts[0].host;
  header.devices = devices_of(facts);
  header.profshim = {{"version", json_string(kVersion)},
                     {"run_name", json_string(facts[0].run_name)},
                     {"merged", ranks_json(result.ranks)},
                     {"messages_without_arrows", std::to_string(result.messages_left_out)}};
  header.trace_name = out;
  return header;
}

/// Everything but the arrows and the events.
bool write_all(const MergeOptions& options, const std::vector<MergeFacts>& facts, const std::vector<ClockMap>& clocks,
               const std::vector<std::vector<ArrowEnd>>& arrows, std::uint64_t events, MergeResult& result) {
  AtomicFile file;
  if (!file.open(options.out)) {
    result.error = options.out + ": cannot be written: " + std::strerror(file.error());
    return false;
  }
  std::unique_ptr<ByteSink> sink = file_sink(file);
  if (options.out.ends_with(".gz"))
    sink = gzip_sink(std::move(sink), 1, static_cast<int>(std::max(1u, std::thread::hardware_concurrency())) - 1);
  std::int64_t next_id = 0;
  const std::vector<Renumbering> numbers = renumber(facts, result.ranks, next_id);
  TraceWriter out(*sink, header_of(facts, clocks, result, options.out));
  ThreadNumbers threads;
  std::uint64_t written = 0;
  for (std::size_t i = 0; i < facts.size(); ++i) {
    FileCopy copy(out, facts[i], result.ranks[i], numbers[i], clocks[i], arrows[i], next_id, threads);
    std::uint64_t here = 0;
    TraceVisitor visitor;
    visitor.event = [&](const ReadEvent& event) {
      if (here++ == facts[i].events) return false;  // it has grown since
      copy.write(event);
      constexpr std::uint64_t kOften = 16384;
      if (++written % kOften == 0 && options.on_progress)
        options.on_progress(0.5 + static_cast<double>(written) / static_cast<double>(events) / 2);
      return !out.failed();
    };
    const ReadResult read = read_trace(facts[i].path, visitor);
    if (here < facts[i].events && !out.failed()) {
      result.error = facts[i].path + ": changed while it was read: " + read.error;
      return false;
    }
    result.ranks[i].events = facts[i].events;
  }
  result.events = out.events();
  result.bytes = out.bytes();
  if (!out.finish() || !sink->close() || !file.publish(AtomicFile::Existing::kReplace)) {
    result.error = options.out + ": cannot be written: " + std::strerror(file.error());
    return false;
  }
  return true;
}

}  // namespace

MergeResult merge_traces(const MergeOptions& options) {
  MergeResult result;
  std::atomic<std::uint64_t> events{0};
  const std::vector<MergeFacts> facts = gather(options, events);
  result.error = refusal(facts);
  if (!result.error.empty()) return result;
  for (const MergeFacts& f : facts) {
    MergedRank rank;
    rank.path = f.path;
    rank.host = f.host;
    rank.rank = f.rank;
    rank.events = f.events;
    rank.truncated = f.truncated;
    result.ranks.push_back(rank);
    if (f.truncated) result.warnings.push_back(f.path + ": cut off; what is there is merged");
  }
  std::vector<analysis_detail::ClockMap> clocks;
  if (!analysis_detail::align_clocks(facts, options, result.ranks, clocks, result.warnings, result.error))
    return result;
  const auto arrows = analysis_detail::find_arrows(facts, clocks, result);
  write_all(options, facts, clocks, arrows, events, result);
  return result;
}

}  // namespace profshim
