// Kinds of activity by category, process and name, for the backends of all vendors. The table: activity_names.def.
#pragma once

#include <cstdint>
#include <string_view>

namespace profshim::analysis_detail {

enum class Kind : std::uint8_t;  // timeline.h

/// Returns the kind of an event of this category, whatever its name. kOther = unknown or "".
Kind kind_of(std::string_view category);
/// Returns the kind of an event with this category and name: a wait or a copy among device activity.
Kind kind_of(std::string_view category, std::string_view name);
/// Returns the kind of an event without a category. `process` is its process's name, "" if unknown.
Kind kind_without_category(std::string_view process, std::string_view name);

/// True for API calls that launch kernels or graphs.
bool is_launch(std::string_view name);
/// True for API calls that ask whether work has ended.
bool is_poll(std::string_view name);
/// True for kernels and other device activity that communicates between ranks.
bool is_collective_kernel(std::string_view name);

}  // namespace profshim::analysis_detail
