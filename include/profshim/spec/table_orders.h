#pragma once

#include <string_view>

namespace profshim {

/// Columns by which summary.table and `profshim summary --sort-by` sort, as in torch.profiler's table(sort_by=...).
inline constexpr std::string_view kTableOrders[] = {
    "self_cpu_time_total",
    "cpu_time_total",
    "cpu_time",
    "self_cuda_time_total",
    "self_device_time_total",
    "cuda_time_total",
    "device_time_total",
    "cuda_time",
    "device_time",
    "self_cpu_memory_usage",
    "cpu_memory_usage",
    "self_cuda_memory_usage",
    "self_device_memory_usage",
    "cuda_memory_usage",
    "device_memory_usage",
    "count",
};

}  // namespace profshim
