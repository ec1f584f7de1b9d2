// Statistical tests for the times of two runs. include/profshim/analysis/compare.h says why these.
#pragma once

#include <cstddef>
#include <vector>

namespace profshim::analysis_detail {

/// Returns the one-sided p of the Mann-Whitney test: the probability that `longer` is at least this much longer than
/// `shorter` if both have the same distribution. 1 if one of them is empty.
double longer_p(const std::vector<double>& shorter, const std::vector<double>& longer);

/// Returns the smallest possible p of `n` and `m` samples, 1 / C(n + m, n).
double least_p(std::size_t n, std::size_t m);
/// Returns the number of steps in each run that a p of at most `alpha` / `rows` needs; at least 3, for the thirds.
std::size_t steps_needed(double alpha, std::size_t rows);

/// Returns the probability that Student's t with `freedom` degrees of freedom is at least `t`. `t` must be >= 0.
double student_tail(double t, std::size_t freedom);

/// True if every third of `longer`, in order of time, has a larger median than every third of `shorter`.
bool in_every_third(const std::vector<double>& shorter, const std::vector<double>& longer);

/// Returns for each p whether Holm's procedure rejects its hypothesis at the family-wise level `alpha`.
std::vector<bool> holm(const std::vector<double>& p, double alpha);

}  // namespace profshim::analysis_detail
