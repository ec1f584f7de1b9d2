#include <span>
#include <vector>

#include "profshim/window_trace.h"

namespace profshim::kineto {
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

double bytes_of(const spool::View& view, std::uint64_t window, WindowTraceOptions options,
                std::vector<spool::Run> runs) {
  options.only = std::move(runs);
  WindowTraceBuilder builder(view, window, options);
  CountingSink sink;
  builder.write(sink, {});
  return sink.bytes();
}

}  // namespace

SampledSize sample_size(const spool::View& view, std::uint64_t window, Ticks since, std::uint64_t memory_entries) {
  std::vector<spool::Run> found;
  std::uint64_t events = 0;
  view.for_each_run([&](const spool::Run& run) {
    const Event& last = run.events[run.count - 1];
    if (std::max(last.begin, last.end) < since) return;
    found.push_back(run);
    events += run.count;
  });
  // Takes one run per equal share of events, so that busy threads are sampled more.
  std::vector<spool::Run> chosen;
  std::uint64_t before = 0, sampled = 0;
  for (const spool::Run& run : found) {
    const std::uint64_t share = before * kRuns / events;
    before += run.count;
    if (!chosen.empty() && before * kRuns / events == share) continue;
    chosen.push_back(run);
    for (const Event& e : std::span(run.events, run.count)) {
      sampled += e.begin >= since || e.hook == HookId::kContinuation ? 1 : 0;
    }
  }
  if (sampled == 0) return {};
  WindowTraceOptions options;
  options.trace_name = "/";
  options.memory_entries = memory_entries;
  options.since = since;
  const double fixed = bytes_of(view, window, options, {});
  const double all = bytes_of(view, window, options, std::move(chosen));
  return {fixed, (all - fixed) / static_cast<double>(sampled)};
}

}  // namespace profshim::kineto
