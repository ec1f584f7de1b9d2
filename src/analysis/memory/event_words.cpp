#include <algorithm>
#include <array>
#include <utility>

#include "analysis/model/statistics.h"
#include "analysis/report/words.h"
#include "device_section.h"

namespace profshim::analysis_detail {
namespace {

const Step* step_at(const std::vector<Step>& steps, std::int64_t at_ns) {
  const auto after = std::upper_bound(steps.begin(), steps.end(), at_ns,
                                      [](std::int64_t ns, const Step& step) { return ns < step.begin_ns; });
  if (after == steps.begin()) return nullptr;
  const Step& step = *std::prev(after);
  return difference(at_ns, step.begin_ns) <= step.duration_ns ? &step : nullptr;
}

}  // namespace

EventWords::EventWords(const MemoryReader& reader) : reader_(reader) {
  for (std::uint32_t node = 1; node < reader.tree().size() && !has_stacks_; ++node) {
    has_stacks_ = reader.tree()[node].stack != 0 || reader.tree()[node].is_python;
  }
}

std::string EventWords::device(const MemoryDevice& device) const {
  // c10/core/DeviceType.h
  constexpr std::array<std::pair<std::int32_t, const char*>, 9> kNames = {{{0, "CPU"},
                                                                           {1, "CUDA"},
                                                                           {6, "HIP"},
                                                                           {9, "XLA"},
                                                                           {12, "XPU"},
                                                                           {13, "MPS"},
                                                                           {15, "HPU"},
                                                                           {19, "MTIA"},
                                                                           {20, "PrivateUse1"}}};
  std::string text = "device type " + std::to_string(device.type);
  for (const auto& [type, name] : kNames) {
    if (type == device.type) text = name;
  }
  if (device.index >= 0) text += " " + std::to_string(device.index);
  if (reader_.metadata().recording) text += device.has_totals ? ", PyTorch's allocator" : ", allocated from CUDA";
  return device.rank >= 0 ? "rank " + std::to_string(device.rank) + ", " + text : text;
}

double EventWords::at_us(const MemoryEvent& event) const { return to_us(difference(event.at_ns, reader_.first_ns())); }

Cell EventWords::step(const MemoryEvent& event) const {
  const Step* const step = step_at(reader_.steps(), event.at_ns);
  return step != nullptr ? Cell(step->number) : Cell();
}

std::string EventWords::moment(const MemoryEvent& event) const {
  const Cell in = step(event);
  const auto* const number = std::get_if<std::int64_t>(&in);
  return time_words(at_us(event)) + (number != nullptr ? " (step " + std::to_string(*number) + ")" : "");
}

std::string EventWords::operators(const MemoryEvent& event) const {
  const std::string text = reader_.tree().operators(event.node);
  return text.empty() ? "(no operator)" : text;
}

void EventWords::add_columns(ViewTable& table) const {
  table.columns.push_back({"operators", "Operators"});
  if (has_stacks_) table.columns.push_back({"stack", "Stack"});
}

void EventWords::add_cells(const MemoryEvent& event, std::vector<Cell>& row) const {
  row.emplace_back(operators(event));
  if (has_stacks_) row.emplace_back(reader_.tree().stack(event.node));
}

}  // namespace profshim::analysis_detail
