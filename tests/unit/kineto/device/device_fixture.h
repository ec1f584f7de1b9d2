#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <map>
#include <set>

#include "device_events.h"
#include "profshim/analysis.h"
#include "profshim/json.h"
#include "profshim/trace/reader.h"
#include "profshim/trace/writer.h"
#include "profshim/window_trace.h"
#include "unit/spool_fixture.h"
#include "unit/trace/sample_trace.h"

namespace profshim::test {

// Wall clock minus monotonic clock, in nanoseconds. Ticks are nanoseconds.
inline constexpr std::int64_t kWall = 7889238'000'000'000 * 220;
inline constexpr std::int32_t kTid = 5151;

struct Row {
  std::string phase, category, name;
  std::int64_t pid = 0, tid = 0, begin = 0, end = 0, id = 0;
  std::vector<std::string> keys;
  std::map<std::string, std::string> args;
};

class DeviceTest : public SpoolFixture {
 protected:
  void SetUp() override {
    make_spool(64);
    recorder::tend_pool([] { return Ticks{1}; }, 64);
    recorder::add_anchor({1, 1, kWall + 1});
    spool::SpoolHeader& h = recorder::header();
    h.base_time_ns = kWall;
    h.rank = 0;
    h.world_size = 1;
    h.program = recorder::intern("train");
    h.step_tid = kTid;
    DeviceEvents::define_device();
    device_ = std::make_unique<DeviceEvents>();
    window_ = recorder::open_window(1000, recorder::add_mark({1000, 5, 5}));
  }

  void close(Ticks end = 9000) {
    window_->complete = 1;
    recorder::close_window(*window_, end, recorder::add_mark({end, 6, 6}), spool::WindowEnd::kSchedule, 0);
  }

  /// Checks the trace with verify and returns its rows.
  std::vector<Row> rows(std::uint64_t number = 0) {
    const auto v = view();
    kineto::WindowTraceBuilder builder(*v, number, {.trace_name = "/run/rank0.5.pt.trace.json"});
    text_.clear();
    MemorySink sink(text_);
    EXPECT_TRUE(builder.write(sink, {}));
    summary_ = builder.summary();
    std::vector<Row> all;
    TraceVisitor visitor;
    visitor.metadata = [this](std::string_view key, std::string_view json, bool) {
      metadata_[std::string(key)] = json;
    };
    visitor.event = [&all](const ReadEvent& e) {
      Row r{.phase = std::string(e.phase),
            .category = std::string(e.category),
            .name = std::string(e.name),
            .pid = e.pid,
            .tid = e.tid,
            .begin = e.ts_ns,
            .end = e.ts_ns + e.duration_ns,
            .id = e.id};
      for (const auto& arg : e.args) {
        r.keys.emplace_back(arg.key);
        r.args[r.keys.back()] = arg.text.empty() ? std::to_string(arg.integer) : std::string(arg.text);
      }
      all.push_back(std::move(r));
      return true;
    };
    const ReadResult read = read_trace_bytes(text_, visitor);
    EXPECT_TRUE(read.ok) << read.error;
    const FileReport report = verify_trace_bytes(text_, "rank0.5.pt.trace.json");
    for (const Finding& f : report.findings) {
      EXPECT_FALSE(f.must && !tolerated_.contains(f.item)) << f.item << ' ' << f.message;
    }
    return all;
  }

  static std::vector<Row> of(const std::vector<Row>& all, std::string_view category, std::string_view phase = "X") {
    std::vector<Row> found;
    std::copy_if(all.begin(), all.end(), std::back_inserter(found),
                 [&](const Row& r) { return r.category == category && r.phase == phase; });
    return found;
  }

  std::int64_t device_count(std::string_view key) {
    std::int64_t value = -1;
    json_leaves(metadata_["profshim"], [&](std::string_view path, const ReadEvent::ReadArg& v) {
      if (path == "device." + std::string(key)) value = v.integer;
    });
    return value;
  }

  std::unique_ptr<DeviceEvents> device_;
  spool::Window* window_ = nullptr;
  std::map<std::string, std::string> metadata_;
  std::string text_;
  kineto::WindowSummary summary_;
  std::set<int> tolerated_;  // verify items that a test breaks
};

}  // namespace profshim::test
