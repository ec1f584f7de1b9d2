#include "device_section.h"

#include <algorithm>
#include <map>
#include <utility>

#include "analysis/model/statistics.h"
#include "analysis/report/words.h"
#include "curve.h"

namespace profshim::analysis_detail {
namespace {

constexpr std::size_t kMostPeaks = 10, kMostRows = 20;
constexpr char kOlder[] = "(allocated before the trace, or not seen)";
constexpr const char* kPartNames[kStepParts] = {"outside of operators", "other operators", "backward", "optimizer",
                                                "data loader"};

class DeviceSection {
 public:
  DeviceSection(const MemoryReader& reader, const EventWords& words, const DeviceMemory& memory)
      : reader_(reader), words_(words), memory_(memory) {
    for (const std::uint32_t number : memory.events) {
      const MemoryEvent& e = reader.events()[number];
      times_.push_back(e.at_ns);
      // Allocators without a total report no reserved bytes either.
      if (memory.reserves) reserved_.push_back(e.reserved > 0 || reserved_.empty() ? e.reserved : reserved_.back());
    }
    peaks_ = peaks_of(times_, memory.allocated, kMostPeaks);
  }

  ReportSection make(const MemoryDevice& device, std::size_t number, std::size_t intervals) {
    ReportSection section{.key = "device-" + std::to_string(number), .title = words_.device(device)};
    choose_points(intervals);
    add_notes(device, section.notes);
    section.plots.push_back(curves(number));
    if (memory_.only_sizes) {
      section.tables.push_back(peak_table());
      section.tables.push_back(by_operators(all_allocations()));
      section.tables.back().title = "Allocated during the trace, by the operators that allocated";
      return section;
    }
    section.plots.push_back(parts(number));
    section.tables.push_back(peak_table());
    const std::vector<std::uint32_t> alive = alive_at(memory_, reader_.events(), memory_.highest);
    section.tables.push_back(by_operators(alive));
    section.tables.push_back(largest(alive));
    return section;
  }

 private:
  const MemoryEvent& event(std::uint32_t index) const { return reader_.events()[memory_.events[index]]; }

  void choose_points(std::size_t intervals) {
    std::vector<const std::vector<std::int64_t>*> shown = {&memory_.allocated};
    if (memory_.reserves) shown.push_back(&reserved_);
    points_ = points_of(times_, shown, intervals);
    points_.insert(points_.end(), peaks_.begin(), peaks_.end());
    std::sort(points_.begin(), points_.end());
    points_.erase(std::unique(points_.begin(), points_.end()), points_.end());
  }

  void add_notes(const MemoryDevice& device, std::vector<std::string>& notes) const {
    notes.push_back(
        counted(memory_.events.size(), "event") + ". The plots show " + counted(points_.size(), "moment") +
        (points_.size() < times_.size() ? ": the first, the last, the lowest and the highest of short intervals" : "") +
        ". Peaks are exact.");
    if (memory_.only_sizes) {
      notes.emplace_back(
          "These events have sizes alone, without addresses and totals. The curve adds the sizes up from its lowest "
          "point. Which blocks are alive is unknown.");
    } else if (!device.has_totals) {
      notes.emplace_back(
          "This allocator reports no total. The curve counts blocks that were allocated or released in the trace.");
    } else if (device.type == 0 && reader_.metadata().recording) {
      notes.emplace_back("The CPU's total counts the blocks that were allocated while a window was open.");
    }
    const auto note = [&](std::uint64_t count, std::string_view word, const char* what) {
      if (count > 0) notes.push_back(counted(count, word) + what);
    };
    note(memory_.older_blocks, "release", " of blocks that were allocated before the trace.");
    note(device.has_totals ? memory_.without_total : 0, "event",
         " of allocators that report no total: their blocks are added to the curve.");
    note(memory_.unseen_releases, "release",
         " not seen: the address was allocated again. These blocks end at that time.");
    note(memory_.unusable, "event", " without an address, or with an impossible size, left out.");
  }

  ReportPlot plot(ReportPlot::Kind kind, std::string key, std::string title) const {
    ReportPlot made{.key = std::move(key), .kind = kind, .title = std::move(title)};
    made.label_axis = "time since the first event of the trace";
    made.value_axis = "memory";
    made.unit = Unit::kBytes;
    for (const std::uint32_t point : points_) made.times_us.push_back(words_.at_us(event(point)));
    return made;
  }

  ReportPlot curves(std::size_t number) const {
    ReportPlot made = plot(ReportPlot::Kind::kCurves, "curve-" + std::to_string(number), "Memory over time");
    const auto add = [&](const char* label, const std::vector<std::int64_t>& values) {
      ReportPlot::Series& series = made.series.emplace_back();
      series.label = label;
      for (const std::uint32_t point : points_) series.values.push_back(static_cast<double>(values[point]));
    };
    add("allocated", memory_.allocated);
    if (memory_.reserves) add("reserved by the allocator", reserved_);
    made.numbers = intervals();
    return made;
  }

  ReportPlot parts(std::size_t number) const {
    ReportPlot made = plot(ReportPlot::Kind::kStackedCurves, "parts-" + std::to_string(number),
                           "Allocated memory by the part of the step that allocated it");
    const std::vector<PartBytes> bytes = parts_at(memory_, reader_, points_);
    made.numbers = {.columns = {{"part", "Part"}, {"bytes", "At the highest peak", Unit::kBytes}}};
    const PartBytes at_peak = parts_at(memory_, reader_, {static_cast<std::uint32_t>(memory_.highest)})[0];
    const auto add = [&](const char* label, std::int64_t peak, auto value_of) {
      ReportPlot::Series series{.label = label};
      for (const PartBytes& one : bytes) series.values.push_back(static_cast<double>(value_of(one)));
      if (std::all_of(series.values.begin(), series.values.end(), [](double value) { return value == 0; })) return;
      made.series.push_back(std::move(series));
      made.numbers.rows.push_back({label, peak});
    };
    add("before the trace, or not seen", at_peak.older, [](const PartBytes& one) { return one.older; });
    for (std::size_t part = 0; part < kStepParts; ++part) {
      add(kPartNames[part], at_peak.of_part[part], [part](const PartBytes& one) { return one.of_part[part]; });
    }
    return made;
  }

  std::vector<std::uint32_t> all_allocations() const {
    std::vector<std::uint32_t> indexes;
    for (std::uint32_t i = 0; i < memory_.events.size(); ++i) {
      if (event(i).bytes > 0) indexes.push_back(i);
    }
    return indexes;
  }

  /// For readers without JavaScript.
  ViewTable intervals() const {
    constexpr std::size_t kRows = 40;
    ViewTable table{.columns = {{"from", "From", Unit::kTime},
                                {"to", "To", Unit::kTime},
                                {"lowest", "Lowest", Unit::kBytes},
                                {"highest", "Highest", Unit::kBytes}}};
    const std::size_t each = points_.size() / kRows + 1;
    for (std::size_t at = 0; at < points_.size(); at += each) {
      const std::size_t last = std::min(at + each, points_.size()) - 1;
      const auto [low, high] = std::minmax_element(
          points_.begin() + static_cast<std::ptrdiff_t>(at), points_.begin() + static_cast<std::ptrdiff_t>(last + 1),
          [&](std::uint32_t a, std::uint32_t b) { return memory_.allocated[a] < memory_.allocated[b]; });
      table.rows.push_back({words_.at_us(event(points_[at])), words_.at_us(event(points_[last])),
                            memory_.allocated[*low], memory_.allocated[*high]});
    }
    return table;
  }

  ViewTable peak_table() const {
    ViewTable table{.key = "peaks",
                    .title = "Highest peaks, and the allocations that reached them",
                    .columns = {{"allocated", "Allocated", Unit::kBytes},
                                {"at_us", "At", Unit::kTime},
                                {"step", "Step"},
                                {"bytes", "Block", Unit::kBytes}}};
    words_.add_columns(table);
    for (const std::uint32_t peak : peaks_) {
      const MemoryEvent& e = event(peak);
      auto& row = table.rows.emplace_back();
      row = {memory_.allocated[peak], words_.at_us(e), words_.step(e), e.bytes};
      words_.add_cells(e, row);
    }
    return table;
  }

  ViewTable by_operators(const std::vector<std::uint32_t>& alive) const {
    struct Sum {
      std::int64_t bytes = 0, blocks = 0;
      std::uint32_t first = 0;
    };
    std::map<OperatorTree::NodeId, Sum> sums;
    std::int64_t known = 0;
    for (const std::uint32_t block : alive) {
      const MemoryEvent& e = event(block);
      Sum& sum = sums.try_emplace(e.node, Sum{0, 0, block}).first->second;
      sum.bytes = bounded_sum(sum.bytes, e.bytes);
      ++sum.blocks;
      known = bounded_sum(known, e.bytes);
    }
    std::vector<Sum> order;
    for (const auto& [node, sum] : sums) order.push_back(sum);
    std::sort(order.begin(), order.end(),
              [](const Sum& a, const Sum& b) { return a.bytes != b.bytes ? a.bytes > b.bytes : a.first < b.first; });
    ViewTable table{.key = "alive_by_operator",
                    .title = "Alive at the highest peak, by the operators that allocated",
                    .columns = {{"bytes", "Bytes", Unit::kBytes}, {"blocks", "Blocks"}}};
    words_.add_columns(table);
    for (std::size_t i = 0; i < std::min(order.size(), kMostRows); ++i) {
      auto& row = table.rows.emplace_back();
      row = {order[i].bytes, order[i].blocks};
      words_.add_cells(event(order[i].first), row);
    }
    if (order.size() > kMostRows)
      table.title += " (" + std::to_string(kMostRows) + " of " + std::to_string(order.size()) + ")";
    const std::int64_t older = difference(memory_.allocated[memory_.highest], known);
    if (older <= 0 || memory_.only_sizes) return table;
    auto& row = table.rows.emplace_back();
    row = {older, Cell(), kOlder};
    row.resize(table.columns.size());
    return table;
  }

  ViewTable largest(std::vector<std::uint32_t> alive) const {
    const std::size_t shown = std::min(alive.size(), kMostRows), all = alive.size();
    std::partial_sort(alive.begin(), alive.begin() + static_cast<std::ptrdiff_t>(shown), alive.end(),
                      [&](std::uint32_t a, std::uint32_t b) {
                        return event(a).bytes != event(b).bytes ? event(a).bytes > event(b).bytes : a < b;
                      });
    alive.resize(shown);
    ViewTable table{.key = "largest",
                    .title = "Largest blocks that are alive at the highest peak",
                    .columns = {{"bytes", "Bytes", Unit::kBytes},
                                {"allocated_us", "Allocated at", Unit::kTime},
                                {"released_us", "Released at", Unit::kTime}}};
    words_.add_columns(table);
    for (const std::uint32_t block : alive) {
      const std::uint32_t released = memory_.released[block];
      auto& row = table.rows.emplace_back();
      row = {event(block).bytes, words_.at_us(event(block)),
             released != DeviceMemory::kNever ? Cell(words_.at_us(event(released))) : Cell()};
      words_.add_cells(event(block), row);
    }
    if (shown < all) table.title += " (" + std::to_string(shown) + " of " + std::to_string(all) + ")";
    return table;
  }

  const MemoryReader& reader_;
  const EventWords& words_;
  const DeviceMemory& memory_;
  std::vector<std::uint32_t> peaks_, points_;
  std::vector<std::int64_t> times_, reserved_;
};

}  // namespace

ReportSection device_section(const MemoryReader& reader, const EventWords& words, const MemoryDevice& device,
                             const DeviceMemory& memory, std::size_t number, std::size_t intervals) {
  return DeviceSection(reader, words, memory).make(device, number, intervals);
}

}  // namespace profshim::analysis_detail
