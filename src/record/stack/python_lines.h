// CPython's line tables lie in the job's memory, so damage must do no harm.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace profshim::recorder::python_lines {

/// For CPython 3.11 and later (Objects/locations.md). `offset`: of the instruction, in bytes. Returns `first_line` if
/// the line is unknown.
int by_locations(std::span<const std::uint8_t> table, int first_line, std::size_t offset);

/// The same for CPython 3.10, whose table has pairs: length in bytes, line difference (-128 = no line).
int by_differences(std::span<const std::uint8_t> table, int first_line, std::size_t offset);

}  // namespace profshim::recorder::python_lines
