#include "memory_report.h"

#include <algorithm>
#include <set>
#include <stdexcept>

#include "analysis/report/words.h"
#include "device_section.h"
#include "profshim/analysis/memory.h"
#include "profshim/base/text/message_text.h"
#include "profshim/trace/completeness.h"
#include "profshim/trace/schema.h"

namespace profshim::analysis_detail {
namespace {

using Level = ReportFinding::Level;

// With the rows of their tables, so many devices and moments keep the page below 2 MB.
constexpr std::size_t kMostSections = 9, kMostMoments = 6000, kMomentsOfAnInterval = 6;
constexpr std::size_t kMostFailures = 20;

std::string size_words(std::int64_t bytes) {
  return format_size(static_cast<std::uint64_t>(std::max<std::int64_t>(bytes, 0)));
}

struct Device {
  MemoryDevice device;
  DeviceMemory memory;
};

class MemoryReport {
 public:
  explicit MemoryReport(const MemoryReader& reader) : reader_(reader), words_(reader) {
    std::vector<std::vector<std::uint32_t>> numbers(reader.devices().size());
    for (std::uint32_t number = 0; number < reader.events().size(); ++number) {
      const MemoryEvent& e = reader.events()[number];
      (e.failed ? failed_ : numbers[e.device]).push_back(number);
    }
    for (std::size_t i = 0; i < numbers.size(); ++i) {
      DeviceMemory memory = follow_blocks(reader.events(), std::move(numbers[i]));
      // On the CPU only shared memory reports reserved bytes: its own size.
      if (reader.devices()[i].type == 0) memory.reserves = false;
      if (!memory.empty()) devices_.push_back({reader.devices()[i], std::move(memory)});
    }
    std::stable_sort(devices_.begin(), devices_.end(), [](const Device& a, const Device& b) {
      return a.memory.allocated[a.memory.highest] > b.memory.allocated[b.memory.highest];
    });
    std::stable_sort(failed_.begin(), failed_.end(), [&](std::uint32_t a, std::uint32_t b) {
      return reader_.events()[a].at_ns < reader_.events()[b].at_ns;
    });
  }

  Report make(const std::string& path) {
    Report report;
    const TraceMetadata& metadata = reader_.metadata();
    report.title = "Memory over time";
    if (metadata.rank >= 0 && metadata.merged.empty()) report.title += " on rank " + std::to_string(metadata.rank);
    add_overview(path, report);
    add_findings(report);
    if (!failed_.empty()) report.sections.push_back(failures());
    report.sections.push_back(overview_of_devices());
    const std::size_t shown = std::min(devices_.size(), kMostSections);
    for (std::size_t i = 0; i < shown; ++i) {
      report.sections.push_back(device_section(reader_, words_, devices_[i].device, devices_[i].memory, i,
                                               kMostMoments / kMomentsOfAnInterval / shown));
    }
    return report;
  }

 private:
  void add_overview(const std::string& path, Report& report) const {
    const TraceMetadata& metadata = reader_.metadata();
    const auto add = [&](const char* what, const std::string& text) {
      if (!text.empty()) report.overview.emplace_back(what, text);
    };
    add("Trace", path.substr(path.rfind('/') + 1));
    if (metadata.recording) add("Run", metadata.recording->run_name);
    if (metadata.merged.empty()) add("Host", metadata.host);
    if (metadata.rank >= 0 && metadata.merged.empty()) {
      add("Rank", std::to_string(metadata.rank) +
                      (metadata.world_size > 0 ? " of " + std::to_string(metadata.world_size) : ""));
    }
    std::set<int> steps;
    for (const Step& step : reader_.steps()) steps.insert(static_cast<int>(step.number));
    add("Steps", rank_list(steps));
    add("Memory events", std::to_string(reader_.events().size()));
  }

  void add_findings(Report& report) const {
    const auto add = [&](Level level, std::string text) { report.verdict.push_back({level, std::move(text)}); };
    if (!failed_.empty()) {
      const MemoryEvent& first = reader_.events()[failed_.front()];
      add(Level::kBad, counted(failed_.size(), "allocation") + " failed, the first after " + words_.moment(first) +
                           ": " + size_words(first.bytes) + " of " + words_.device(reader_.devices()[first.device]) +
                           " in " + words_.operators(first) + ".");
    }
    for (std::size_t i = 0; i < std::min(devices_.size(), kMostSections); ++i) {
      const DeviceMemory& memory = devices_[i].memory;
      const MemoryEvent& peak = reader_.events()[memory.events[memory.highest]];
      add(Level::kPlain, words_.device(devices_[i].device) + ": at most " +
                             size_words(memory.allocated[memory.highest]) + " allocated, after " + words_.moment(peak) +
                             ", by " + words_.operators(peak) + ".");
    }
    if (devices_.empty() && failed_.empty()) {
      add(Level::kNotice, "None of the " + counted(reader_.events().size(), "memory event") +
                              " has a possible size, so there is no curve.");
    }
    if (const std::uint64_t count = reader_.impossible(); count > 0) {
      add(Level::kNotice, counted(count, "event") + " without a possible time or device left out.");
    }
    if (reader_.metadata().recording) {
      add_losses(*reader_.metadata().recording, report);
    } else {
      add(Level::kPlain, "This trace does not contain the number of lost events.");
    }
  }

  static void add_losses(const RecordingInfo& recording, Report& report) {
    const auto add = [&](Level level, std::string text) { report.verdict.push_back({level, std::move(text)}); };
    if (recording.dropped > 0) {
      add(Level::kBad, counted(recording.dropped, "event") +
                           " dropped: blocks whose release was lost count as alive in the plot by parts.");
    }
    if (recording.truncated) {
      add(Level::kNotice, "A limit of the spec (table [limits]) closed the window: the curves end there.");
    } else if (!recording.complete) {
      add(Level::kNotice, "The window is incomplete: " + missing_text(recording.missing) + ".");
    }
    for (const auto& [what, count] : recording.losses) {
      if (what == schema::ours::kMemoryEntriesLeftOut && count > 0) {
        add(Level::kNotice,
            counted(count, "memory event") + " at the end left out by limits.memory_entries: the curves end there.");
      }
    }
    if (recording.left_out > 0) {
      add(Level::kNotice, counted(recording.left_out, "event") +
                              " left out by the spec (capture.include, exclude, min_us): operators may be missing.");
    }
    for (const std::string& problem : recording.problems) add(Level::kNotice, problem);
  }

  ReportSection overview_of_devices() const {
    ReportSection section{.key = "devices", .title = "Devices"};
    ViewTable table{.key = "devices",
                    .columns = {{"device", "Device"},
                                {"highest", "Highest", Unit::kBytes},
                                {"at_us", "At", Unit::kTime},
                                {"before", "At the begin", Unit::kBytes},
                                {"after", "At the end", Unit::kBytes},
                                {"reserved", "Highest reserved", Unit::kBytes},
                                {"events", "Events"}}};
    for (const auto& [device, memory] : devices_) {
      std::int64_t reserved = 0;
      for (const std::uint32_t number : memory.events) reserved = std::max(reserved, reader_.events()[number].reserved);
      const MemoryEvent& peak = reader_.events()[memory.events[memory.highest]];
      table.rows.push_back({words_.device(device), memory.allocated[memory.highest], words_.at_us(peak), memory.before,
                            memory.allocated.back(), memory.reserves ? Cell(reserved) : Cell(),
                            static_cast<std::int64_t>(memory.events.size())});
    }
    if (devices_.size() > kMostSections) {
      section.notes.push_back("Curves of the " + std::to_string(kMostSections) + " devices with the highest peaks.");
    }
    section.tables.push_back(std::move(table));
    return section;
  }

  ReportSection failures() const {
    ReportSection section{.key = "failed", .title = "Failed allocations"};
    ViewTable table{.key = "failed",
                    .columns = {{"at_us", "At", Unit::kTime},
                                {"step", "Step"},
                                {"device", "Device"},
                                {"bytes", "Asked for", Unit::kBytes},
                                {"allocated", "Allocated then", Unit::kBytes},
                                {"reserved", "Reserved then", Unit::kBytes}}};
    words_.add_columns(table);
    for (std::size_t i = 0; i < std::min(failed_.size(), kMostFailures); ++i) {
      const MemoryEvent& e = reader_.events()[failed_[i]];
      auto& row = table.rows.emplace_back();
      const auto known = [](std::int64_t bytes) { return bytes >= 0 ? Cell(bytes) : Cell(); };
      row = {words_.at_us(e), words_.step(e),     words_.device(reader_.devices()[e.device]),
             e.bytes,         known(e.allocated), known(e.reserved)};
      words_.add_cells(e, row);
    }
    if (failed_.size() > kMostFailures) {
      section.notes.push_back("The first " + std::to_string(kMostFailures) + " of " + std::to_string(failed_.size()) +
                              ".");
    }
    section.tables.push_back(std::move(table));
    return section;
  }

  const MemoryReader& reader_;
  const EventWords words_;
  std::vector<Device> devices_;  // the highest peak first
  std::vector<std::uint32_t> failed_;
};

}  // namespace

Report memory_report(const MemoryReader& reader, const std::string& path) { return MemoryReport(reader).make(path); }

}  // namespace profshim::analysis_detail

namespace profshim {

Report make_memory_report(const std::string& path) {
  using analysis_detail::MemoryReader;
  MemoryReader reader(MemoryReader::Order::kAny);
  TraceVisitor visitor;
  visitor.metadata = [&](std::string_view key, std::string_view json, bool) { reader.read_metadata(key, json); };
  visitor.event = [&](const ReadEvent& event) {
    reader.add(event);
    return true;
  };
  const ReadResult result = read_trace(path, visitor);
  if (const std::string why = result.useless(); !why.empty()) throw std::runtime_error(path + ": " + why);
  if (reader.events().empty()) {
    throw std::runtime_error(path +
                             ": no memory events: record with capture.profile_memory = true, or in PyTorch with "
                             "profile_memory=True");
  }
  reader.finish();
  Report report = analysis_detail::memory_report(reader, path);
  for (const std::string& warning : result.warnings()) report.warnings.push_back(path + ": " + warning);
  report.truncated = !result.ok;
  if (report.truncated) {
    report.warnings.push_back(path + ": " + result.why_partial() + "; only the " + std::to_string(result.events) +
                              " complete events are used");
  }
  return report;
}

}  // namespace profshim
