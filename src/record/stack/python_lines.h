// The tables that Python's code objects say their lines with. Pure functions of bytes, which come from the job's memory
// and are not trusted.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace profshim::recorder::python_lines {

/// The line of the instruction at byte `offset` of the code, by CPython 3.11's location table and its successors'
/// (Objects/locations.md). `first_line` where the table has none for it.
int by_locations(std::span<const std::uint8_t> table, int first_line, std::size_t offset);

/// The same by CPython 3.10's table: pairs of a length in bytes and a difference of lines, -128 = no line.
int by_differences(std::span<const std::uint8_t> table, int first_line, std::size_t offset);

}  // namespace profshim::recorder::python_lines
