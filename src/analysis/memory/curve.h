#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace profshim::analysis_detail {

/// Returns the indexes of the peaks, the highest first, at most `most`. Between two peaks the curve falls by at least a
/// tenth of its range, and a fiftieth of the whole time passes. `times` are sorted.
std::vector<std::uint32_t> peaks_of(const std::vector<std::int64_t>& times, const std::vector<std::int64_t>& values,
                                    std::size_t most);

/// Returns sorted indexes that keep the shape of the curves: of each of `intervals` equal intervals of time the first
/// and the last moment, and those of the lowest and the highest value. All `times` are sorted; `curves` have their
/// size.
std::vector<std::uint32_t> points_of(const std::vector<std::int64_t>& times,
                                     const std::vector<const std::vector<std::int64_t>*>& curves,
                                     std::size_t intervals);

}  // namespace profshim::analysis_detail
