#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "profshim/trace/reader.h"
#include "profshim/trace/writer.h"
#include "profshim/window_trace.h"
#include "unit/spool_fixture.h"

namespace profshim::test {

struct Slice {
  std::string phase, name;
  std::int64_t tid = 0, begin = 0, end = 0;
  std::map<std::string, std::string> args;
};

class TextSink : public ByteSink {
 public:
  bool write(const char* data, std::size_t size) override {
    text.append(data, size);
    return true;
  }
  bool close() override { return true; }
  std::string text;
};

// Wall clock minus monotonic clock, in nanoseconds. Ticks are nanoseconds.
inline constexpr std::int64_t kWall = 7889238'000'000'000 * 220;

class WindowTraceTest : public SpoolFixture {
 protected:
  void SetUp() override {
    make_spool(256);
    recorder::tend_pool([] { return Ticks{1}; }, 128);
    recorder::add_anchor({1, 1, kWall + 1});
    recorder::header().base_time_ns = kWall;
    recorder::header().rank = 3;
    recorder::header().world_size = 4;
  }

  std::vector<Slice> build(std::uint64_t window, kineto::WindowSummary* summary = nullptr) {
    kineto::WindowTraceBuilder builder(*(view_ = view()), window, {});
    TextSink sink;
    EXPECT_TRUE(builder.write(sink, {}));
    if (summary != nullptr) *summary = builder.summary();
    metadata.clear();
    std::vector<Slice> slices;
    TraceVisitor visitor;
    visitor.metadata = [this](std::string_view key, std::string_view json, bool) { metadata[std::string(key)] = json; };
    visitor.event = [&slices](const ReadEvent& e) {
      Slice s{std::string(e.phase), std::string(e.name), e.tid, e.ts_ns, e.ts_ns + e.duration_ns, {}};
      for (const auto& arg : e.args) {
        s.args[std::string(arg.key)] =
            arg.kind == ReadEvent::ReadArg::Kind::kInt ? std::to_string(arg.integer) : std::string(arg.text);
      }
      slices.push_back(std::move(s));
      return true;
    };
    const ReadResult read = read_trace_bytes(sink.text, visitor);
    EXPECT_TRUE(read.ok) << read.error << "\n" << sink.text;
    return slices;
  }

  static std::vector<Slice> named(const std::vector<Slice>& all, std::string_view name) {
    std::vector<Slice> found;
    for (const Slice& s : all) {
      if (s.name == name) found.push_back(s);
    }
    return found;
  }

  static void commit_range(Ticks begin, Ticks end, std::string_view name, std::uint8_t flags = 0) {
    recorder::commit(*recorder::this_thread(), range_event(begin, end, name, flags));
  }

  std::unique_ptr<spool::View> view_;
  std::map<std::string, std::string> metadata;
};

}  // namespace profshim::test
