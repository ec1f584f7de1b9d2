#include "analysis/model/while_writing/written_timeline.h"

#include <gtest/gtest.h>

#include <limits>

#include "profshim/trace/events.h"
#include "unit/trace/sample_trace.h"

namespace profshim::analysis_detail {
namespace {

constexpr std::int64_t kBase = 7889238ll * 226 * 1'000'000'000;

TraceHeader header() {
  TraceHeader header;
  header.rank.rank = 3;
  header.rank.world_size = 4;
  header.rank.host = "node\xff";
  header.base_time_ns = kBase;
  header.trace_name = "t.json";
  header.profshim = {{"run_name", "\"run\""}, {"complete", "false"}, {"dropped_events", "7"}};
  return header;
}

/// Events with all that the two ways to a timeline might take differently.
class OddEvents {
 public:
  void write(TraceWriter& out) const {
    for (const char* const name : {"plain", "quoted \"\\\n", "caf\xc3\xa9", "not \xff UTF-8 \xc3", ""}) {
      TraceEvent event = slice(name);
      out.write(event);
      event.other_category = "python_function";
      event.category = Category::kNone;
      out.write(event);
    }
    const Arg args[] = {{"Collective name", std::string_view("all\xffreduce")},
                        {"In msg nelems", std::int64_t{12}},
                        {"Out msg nelems", 12.0},
                        {"Group size", 2.5},
                        {"bytes", std::uint64_t{1} << 40},
                        {"External id", std::numeric_limits<std::uint64_t>::max()},
                        {"sequence", std::numeric_limits<double>::quiet_NaN()},
                        {"finished", false},
                        {"Process Group Ranks", RawJson{"[0, 1]"}}};
    TraceEvent event = slice("record_param_comms");
    event.args = {args, 5};
    event.more_args = {args + 5, 4};
    out.write(event);
    event.begin_ns = kBase - 500;  // begins before the base time
    event.duration_ns = 800;
    out.write(event);
    event.duration_ns = -5;
    out.write(event);
    write_pair(out);
    write_others(out);
  }

 private:
  static TraceEvent slice(std::string_view name) {
    TraceEvent event;
    event.category = Category::kCpuOp;
    event.name = name;
    event.pid = 42;
    event.tid = 43;
    event.begin_ns = kBase + 1234;
    event.duration_ns = 567;
    return event;
  }
  static void write_pair(TraceWriter& out) {
    TraceEvent event = slice("request");
    event.phase = 'b';
    event.id = std::numeric_limits<std::uint64_t>::max() - 1;
    out.write(event);
    event.begin_ns += 99;
    event.phase = 'e';
    out.write(event);
    event.id = 1;
    event.phase = 'b';
    out.write(event);  // has no end
  }
  static void write_others(TraceWriter& out) {
    TraceEvent span = slice("span");
    span.text_ids = true;
    span.pid_text = "Spans";
    span.tid_text = "x\xfe";
    out.write(span);
    TraceEvent step = slice("ProfilerStep#12");
    step.category = Category::kUserAnnotation;
    out.write(step);
    const Arg args[] = {{"Bytes", std::int64_t{-64}}, {"Device Id", std::int64_t{0}}, {"Device Type", std::int64_t{1}}};
    TraceEvent memory = slice("[memory]");
    memory.phase = 'i';
    memory.category = Category::kCpuInstantEvent;
    memory.args = args;
    out.write(memory);
    TraceEvent counter = slice("CPU");
    counter.phase = 'C';
    counter.args = args;
    out.write(counter);
    TraceEvent flow = slice("ac2g");
    flow.phase = 's';
    flow.id = 5;
    out.write(flow);
  }
};

std::string written(TraceObserver* observer) {
  std::string text;
  test::MemorySink sink(text);
  TraceWriter out(sink, header(), nullptr, observer);
  OddEvents().write(out);
  EXPECT_TRUE(out.finish());
  return text;
}

std::string shown(const Timeline& t) {
  std::string text = t.host + " " + std::to_string(t.rank) + " " + std::to_string(t.dropped) + " " +
                     std::to_string(t.complete) + " " + std::to_string(t.pid) + "\n";
  const auto add = [&](auto... values) { ((text += std::to_string(values) + " "), ...); };
  const auto add_text = [&](TextId id) { (text += t.texts[id]) += "|"; };
  for (const Slice& s : t.slices) {
    add_text(s.name);
    add(s.begin_ns, s.duration_ns, s.correlation, s.external_id, s.bytes, s.flops, static_cast<int>(s.kind),
        s.asynchronous, s.unfinished, t.tracks[s.track].pid, t.tracks[s.track].tid);
    add_text(t.tracks[s.track].pid_text);
    add_text(t.tracks[s.track].tid_text);
    if (s.communication != kNone) {
      const Communication& c = t.communications[s.communication];
      add_text(c.collective);
      add_text(c.ranks);
      add(c.bytes, c.elements_in, c.elements_out, c.group_size, c.sequence);
    }
    text += "\n";
  }
  for (const MemoryRecord& m : t.memory) add(m.at_ns, m.bytes, m.device_type, m.device_index);
  for (const Step& s : t.steps) add(s.number, s.begin_ns, s.duration_ns);
  for (const std::string& warning : t.warnings) text += "\n" + warning;
  return text;
}

TEST(WrittenTimeline, EqualsThatOfTheFile) {
  WrittenTimeline observer(1000);
  const std::string bytes = written(&observer);

  const Timeline* const timeline = observer.timeline();

  ASSERT_NE(timeline, nullptr) << observer.why_not();
  EXPECT_EQ(timeline->slices.size(), 16u);
  EXPECT_EQ(shown(*timeline), shown(load_timeline_bytes(bytes, "t.json")));
  EXPECT_EQ(bytes, written(nullptr)) << "the observer changes the trace";
}

TEST(WrittenTimeline, IsOfTheLastTimeThatTheTraceWasWritten) {
  WrittenTimeline observer(1000);
  written(&observer);
  const std::string bytes = written(&observer);

  ASSERT_NE(observer.timeline(), nullptr);
  EXPECT_EQ(shown(*observer.timeline()), shown(load_timeline_bytes(bytes, "t.json")));
}

TEST(WrittenTimeline, GivesUpBeyondItsEventsAndTellsWhy) {
  WrittenTimeline observer(10);
  written(&observer);

  EXPECT_EQ(observer.timeline(), nullptr);
  EXPECT_EQ(observer.why_not(), "its events need more memory than limits.host_memory leaves for it");
}

}  // namespace
}  // namespace profshim::analysis_detail
