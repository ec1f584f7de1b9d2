// Decoders of the line tables of Python's code objects. Pure functions of bytes, which come from the job's memory and
// are not trusted.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace profshim::recorder::python_lines {

/// Returns the line of the instruction at byte `offset` of the code by the location table of CPython 3.11 and later
/// (Objects/locations.md); `first_line` if the table has no line for it.
int by_locations(std::span<const std::uint8_t> table, int first_line, std::size_t offset);

/// The same by the line table of CPython 3.10: pairs of a length in bytes and a line difference, -128 = no line.
int by_differences(std::span<const std::uint8_t> table, int first_line, std::size_t offset);

}  // namespace profshim::recorder::python_lines
