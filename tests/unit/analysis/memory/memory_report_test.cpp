#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdio>
#include <fstream>
#include <stdexcept>

#include "memory_trace.h"
#include "profshim/analysis/memory.h"
#include "unit/trace/sample_trace.h"

namespace profshim {
namespace {

using analysis_detail::test::json_of;
using analysis_detail::test::MadeMemory;
using analysis_detail::test::memory_trace;
using analysis_detail::test::slice_json;
using analysis_detail::test::trace_of;

class MemoryReportOf : public testing::Test {
 protected:
  ~MemoryReportOf() override { std::remove(path_.c_str()); }
  Report report_of(const std::string& trace) {
    std::ofstream(path_) << trace;
    return make_memory_report(path_);
  }
  static const ViewTable& table(const Report& report, const std::string& section, const std::string& key) {
    for (const ReportSection& one : report.sections) {
      for (const ViewTable& table : one.tables) {
        if (one.key == section && table.key == key) return table;
      }
    }
    throw std::runtime_error("no table " + section + " " + key);
  }
  static std::string verdict(const Report& report) {
    std::string text;
    for (const ReportFinding& finding : report.verdict) text += finding.text + "\n";
    return text;
  }

  const std::string path_ = testing::TempDir() + "memory_" + std::to_string(getpid()) + ".pt.trace.json";
};

const std::string kOurs = R"("profshim": {"complete": true, "dropped_events": 2, "memory_entries_left_out": 3,
"problems": []}, "distributedInfo": {"rank": 3, "world_size": 8}, )";

TEST_F(MemoryReportOf, TellsThePeakAndWhatWasAliveThere) {
  const Report report =
      report_of(trace_of({slice_json("ProfilerStep#7", 0, 100, "user_annotation"), slice_json("aten::linear", 10, 20),
                          json_of({11, 1000, 0xa, 5000, 9000}), json_of({12, 2000, 0xb, 7000, 9000}),
                          json_of({13, -1000, 0xa, 6000, 9000}),
                          json_of({.ts = 90, .bytes = 1 << 20, .allocated = 6000, .reserved = 9000, .failed = true})},
                         kOurs));

  EXPECT_EQ(report.title, "Memory over time on rank 3");
  const std::string text = verdict(report);
  EXPECT_NE(text.find("1 allocation failed, the first after 90.0 µs (step 7): 1 MiB of CUDA 0"), std::string::npos)
      << text;
  EXPECT_NE(
      text.find("CUDA 0, PyTorch's allocator: at most 6.8 KiB allocated, after 12.0 µs (step 7), by aten::linear."),
      std::string::npos)
      << text;
  EXPECT_NE(text.find("2 events dropped"), std::string::npos) << text;
  EXPECT_NE(text.find("3 memory events at the end left out by limits.memory_entries"), std::string::npos) << text;
  const ViewTable& alive = table(report, "device-0", "alive_by_operator");
  ASSERT_EQ(alive.rows.size(), 2u);
  EXPECT_EQ(alive.rows[0][0], Cell(std::int64_t{3000}));
  EXPECT_EQ(alive.rows[0][1], Cell(std::int64_t{2}));
  EXPECT_EQ(alive.rows[0][2], Cell("aten::linear"));
  EXPECT_EQ(alive.rows[1][0], Cell(std::int64_t{4000})) << "from before the trace";
  const ViewTable& largest = table(report, "device-0", "largest");
  ASSERT_EQ(largest.rows.size(), 2u);
  EXPECT_EQ(largest.rows[0][0], Cell(std::int64_t{2000}));
  EXPECT_EQ(largest.rows[0][2], Cell()) << "never released";
  EXPECT_EQ(largest.rows[1][2], Cell(13.0));
  EXPECT_EQ(table(report, "device-0", "peaks").rows[0][0], Cell(std::int64_t{7000}));
  EXPECT_EQ(table(report, "failed", "failed").rows.size(), 1u);
}

TEST_F(MemoryReportOf, ATraceWithoutMemoryEventsIsRefused) {
  try {
    report_of(trace_of({slice_json("aten::linear", 10, 20)}));
    FAIL() << "not refused";
  } catch (const std::runtime_error& error) {
    EXPECT_NE(std::string(error.what()).find("capture.profile_memory = true"), std::string::npos) << error.what();
  }
  EXPECT_THROW(report_of("no trace"), std::runtime_error);
}

TEST_F(MemoryReportOf, ATraceThatEndsEarlyIsShownUpToThere) {
  std::string trace = memory_trace({{1, 100, 0xa}, {2, 50, 0xb}, {3, 70, 0xc}});
  trace.resize(trace.size() - 10);

  const Report report = report_of(trace);

  EXPECT_TRUE(report.truncated);
  EXPECT_EQ(report.warnings.size(), 1u);
  EXPECT_EQ(table(report, "devices", "devices").rows[0][1], Cell(std::int64_t{150}));
}

TEST_F(MemoryReportOf, RanksOfAMergedTraceAreApart) {
  std::string other = json_of({2, 50, 0xa});
  other.replace(other.find("\"pid\": 1"), 8, "\"pid\": 1001");
  const Report report = report_of(trace_of({json_of({1, 100, 0xa}), other},
                                           R"("profshim": {"merged": [{"rank": 0, "first_pid": 0},
                                              {"rank": 5, "first_pid": 1000}]}, )"));

  const ViewTable& devices = table(report, "devices", "devices");
  ASSERT_EQ(devices.rows.size(), 2u);
  EXPECT_EQ(devices.rows[0][0], Cell("rank 0, CUDA 0, allocated from CUDA"));
  EXPECT_EQ(devices.rows[1][0], Cell("rank 5, CUDA 0, allocated from CUDA"));
}

TEST_F(MemoryReportOf, ThePageOfManyEventsIsSmallAndItsPeakExact) {
  std::vector<std::string> events;
  std::int64_t total = 0;
  for (int i = 0; i < 12'000; ++i) {
    const std::int64_t bytes = i % 2 == 0 ? 512 * (i % 1000 + 1) : -512 * ((i - 1) % 1000 + 1);
    const std::int64_t extra = i == 8'334 ? 123'456'789'012 : 0;
    total += bytes;
    for (int device = 0; device < 12; ++device) {
      events.push_back(json_of({.ts = 10.0 * i,
                                .bytes = bytes,
                                .address = 0x1000 + (i / 2) % 50,
                                .allocated = total + extra + 100'000'000,
                                .index = device}));
    }
    events.push_back(slice_json("aten::operator_number_" + std::to_string(i % 100), 10.0 * i - 1, 5));
  }

  const std::string page = report_page(report_of(trace_of(events)));

  EXPECT_LT(page.size(), 2'000'000u);
  EXPECT_NE(page.find(std::to_string(123'456'789'012 + 100'000'000 + 512 * (8'334 % 1000 + 1))), std::string::npos);
  EXPECT_NE(page.find("Curves of the 9 devices with the highest peaks."), std::string::npos);
}

TEST_F(MemoryReportOf, NamesOfATraceAreNoHtml) {
  const std::string page =
      report_page(report_of(trace_of({slice_json("<img src=x>", 0, 10), json_of({1, 100, 0xa, 100, 200})})));

  EXPECT_EQ(page.find("<img"), std::string::npos);
  EXPECT_NE(page.find("&lt;img src=x&gt;"), std::string::npos);
}

/// A trace as the library writes it: each track in the order of time.
void write_events(TraceWriter& out) {
  const auto slice = [&](const char* name, std::int64_t begin_ns, std::int64_t duration_ns, std::int64_t tid) {
    const Arg stack[] = {{"Call stack", std::string_view("train.py(3): main;<string>(1): <module>")}};
    out.write({.category = Category::kCpuOp,
               .name = name,
               .pid = 9,
               .tid = tid,
               .begin_ns = 1'790'857'026'000'000'000 + begin_ns,
               .duration_ns = duration_ns,
               .args = stack});
  };
  const auto memory = [&](std::int64_t at_ns, std::int64_t bytes, std::int64_t address, std::int64_t total,
                          std::int64_t tid) {
    const Arg args[] = {
        {"Device Type", std::int64_t{1}}, {"Device Id", std::int64_t{0}},           {"Addr", address}, {"Bytes", bytes},
        {"Total Allocated", total},       {"Total Reserved", std::int64_t{1 << 20}}};
    out.write({.phase = 'i',
               .category = Category::kCpuInstantEvent,
               .name = "[memory]",
               .pid = 9,
               .tid = tid,
               .begin_ns = 1'790'857'026'000'000'000 + at_ns,
               .args = args});
  };
  for (const std::int64_t tid : {9, 10}) {
    for (std::int64_t i = 0; i < 3000; ++i) {
      slice("aten::linear", 1000 * i, 700, tid);
      slice("aten::empty", 1000 * i + 10, 300, tid);
      memory(1000 * i + 20, i % 3 == 2 ? -1024 : 512 + 512 * (i % 2), 0x1000 + tid + i / 3 % 7, 10'000 + i, tid);
    }
  }
}

std::string written(TraceObserver* observer, const std::string& path) {
  std::string text;
  test::MemorySink sink(text);
  TraceHeader header = test::sample_header({});
  header.trace_name = path;
  TraceWriter out(sink, header, nullptr, observer);
  write_events(out);
  EXPECT_TRUE(out.finish());
  return text;
}

TEST_F(MemoryReportOf, AWrittenTraceIsThatOfTheFile) {
  WrittenMemory memory(64 << 20);
  EXPECT_FALSE(memory.has_begun());
  written(&memory.observer(), path_);
  const std::string trace = written(&memory.observer(), path_);

  ASSERT_EQ(memory.why_not(), "");
  ASSERT_TRUE(memory.has_events());
  EXPECT_EQ(report_page(memory.report()), report_page(report_of(trace)));
}

TEST_F(MemoryReportOf, AWrittenTraceGivesUpBeyondItsMemoryAndTellsWhy) {
  WrittenMemory memory(100'000);
  written(&memory.observer(), path_);

  EXPECT_EQ(memory.why_not(), "its events need more memory than limits.host_memory leaves for it");
}

}  // namespace
}  // namespace profshim
