#include "memory_sums.h"

#include <algorithm>

namespace profshim::analysis_detail {
namespace {

// PyTorch's DeviceType: CPU, MKLDNN and IDEEP; below, CUDA, HIP, XPU and PrivateUse1.
bool is_cpu(std::int32_t device_type) { return device_type == 0 || device_type == 2 || device_type == 5; }
bool is_gpu(std::int32_t device_type) {
  return device_type == 1 || device_type == 6 || device_type == 12 || device_type == 20;
}

}  // namespace

MemoryBytes bytes_of(const MemoryRecord& record) {
  const auto bytes = static_cast<double>(record.bytes);
  return {is_cpu(record.device_type) ? bytes : 0, is_gpu(record.device_type) ? bytes : 0};
}

MemorySums::MemorySums(const std::vector<MemoryRecord>& records) {
  for (const MemoryRecord& record : records) {
    if (!record.failed) records_.push_back(&record);
  }
  std::stable_sort(records_.begin(), records_.end(),
                   [](const MemoryRecord* a, const MemoryRecord* b) { return a->at_ns < b->at_ns; });
  sums_.resize(records_.size() + 1);
  covers_.resize(records_.size() + 1);
  for (std::size_t i = 0; i < records_.size(); ++i) {
    const MemoryBytes own = bytes_of(*records_[i]);
    sums_[i + 1] = {sums_[i].cpu + own.cpu, sums_[i].device + own.device};
  }
}

std::pair<std::size_t, std::size_t> MemorySums::range(std::int64_t begin, std::int64_t end) const {
  const auto first =
      std::partition_point(records_.begin(), records_.end(), [=](const MemoryRecord* r) { return r->at_ns < begin; });
  const auto last = std::partition_point(first, records_.end(), [=](const MemoryRecord* r) { return r->at_ns <= end; });
  return {static_cast<std::size_t>(first - records_.begin()), static_cast<std::size_t>(last - records_.begin())};
}

MemoryBytes MemorySums::during(std::int64_t begin, std::int64_t end) const {
  const auto [first, last] = range(begin, end);
  return {sums_[last].cpu - sums_[first].cpu, sums_[last].device - sums_[first].device};
}

void MemorySums::cover(std::int64_t begin, std::int64_t end) {
  const auto [first, last] = range(begin, end);
  ++covers_[first];
  --covers_[last];
}

std::vector<const MemoryRecord*> MemorySums::uncovered() const {
  std::vector<const MemoryRecord*> result;
  std::int64_t covers = 0;
  for (std::size_t i = 0; i < records_.size(); ++i) {
    covers += covers_[i];
    if (covers == 0) result.push_back(records_[i]);
  }
  return result;
}

}  // namespace profshim::analysis_detail
