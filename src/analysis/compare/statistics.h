#pragma once

#include <cstddef>
#include <vector>

namespace profshim::analysis_detail {

/// Returns p of the one-sided Mann-Whitney test that `longer` is longer; 1 if a sample is empty.
double longer_p(const std::vector<double>& shorter, const std::vector<double>& longer);

/// Returns the smallest p that n and m steps can give: 1 / C(n + m, n).
double least_p(std::size_t n, std::size_t m);
/// Returns how many steps each run needs for p <= `alpha` / `rows`; at least 3, for in_every_third().
std::size_t steps_needed(double alpha, std::size_t rows);

/// Returns the probability that Student's t exceeds `t`, which must be >= 0.
double student_tail(double t, std::size_t freedom);

/// True if all thirds of `longer`, in order of time, have larger medians than all thirds of `shorter`.
bool in_every_third(const std::vector<double>& shorter, const std::vector<double>& longer);

/// Marks each p that is significant by Holm's correction.
std::vector<bool> holm(const std::vector<double>& p, double alpha);

}  // namespace profshim::analysis_detail
