// Estimates the size in JSON of an open window's events from a sample of them.
#include <span>
#include <vector>

#include "profshim/spool.h"

namespace profshim::spool {
namespace {

constexpr std::uint64_t kRuns = 4;

class CountingSink : public ByteSink {
 public:
  bool write(const char*, std::size_t size) override {
    bytes_ += size;
    return true;
  }
  bool close() override { return true; }
  double bytes() const { return static_cast<double>(bytes_); }

 private:
  std::uint64_t bytes_ = 0;
};

double bytes_of(const View& view, std::uint64_t window, WindowFacts facts, std::vector<Run> runs) {
  facts.only = std::move(runs);
  Assembly assembly(view, window, facts);
  CountingSink sink;
  assembly.write(sink, {});
  return sink.bytes();
}

}  // namespace

SampledSize sample_size(const View& view, std::uint64_t window, Ticks since, std::uint64_t memory_entries) {
  std::vector<Run> found;
  std::uint64_t events = 0;
  view.for_each_run([&](const Run& run) {
    const Event& last = run.events[run.count - 1];
    if (std::max(last.begin, last.end) < since) return;
    found.push_back(run);
    events += run.count;
  });
  // One run for each of equal shares of the events: a thread that makes more of them is looked at more often.
  std::vector<Run> chosen;
  std::uint64_t before = 0, sampled = 0;
  for (const Run& run : found) {
    const std::uint64_t share = before * kRuns / events;
    before += run.count;
    if (!chosen.empty() && before * kRuns / events == share) continue;
    chosen.push_back(run);
    for (const Event& e : std::span(run.events, run.count)) {
      sampled += e.begin >= since || e.hook == HookId::kContinuation ? 1 : 0;
    }
  }
  if (sampled == 0) return {};
  WindowFacts facts;
  facts.trace_name = "/";
  facts.memory_entries = memory_entries;
  facts.since = since;
  const double fixed = bytes_of(view, window, facts, {});
  const double all = bytes_of(view, window, facts, std::move(chosen));
  return {fixed, (all - fixed) / static_cast<double>(sampled)};
}

}  // namespace profshim::spool
