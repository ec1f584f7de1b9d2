#pragma once

#include <cstdint>
#include <string>

#include "device_memory.h"
#include "profshim/analysis/report.h"

namespace profshim::analysis_detail {

/// Words and cells about the events of one trace.
class EventWords {
 public:
  explicit EventWords(const MemoryReader& reader);

  /// "CUDA 0, PyTorch's allocator", in a merged trace "rank 3, CUDA 0, PyTorch's allocator".
  std::string device(const MemoryDevice& device) const;
  /// Microseconds since the first event of the trace.
  double at_us(const MemoryEvent& event) const;
  /// "12.3 ms (step 12)"
  std::string moment(const MemoryEvent& event) const;
  Cell step(const MemoryEvent& event) const;
  std::string operators(const MemoryEvent& event) const;
  /// Adds the columns of operators and, if the trace has stacks, of stacks.
  void add_columns(ViewTable& table) const;
  void add_cells(const MemoryEvent& event, std::vector<Cell>& row) const;
  bool has_stacks() const { return has_stacks_; }

 private:
  const MemoryReader& reader_;
  bool has_stacks_ = false;
};

/// Curves and tables of one device. `number` makes the keys of the page unique; `intervals`: see points_of().
ReportSection device_section(const MemoryReader& reader, const EventWords& words, const MemoryDevice& device,
                             const DeviceMemory& memory, std::size_t number, std::size_t intervals);

}  // namespace profshim::analysis_detail
