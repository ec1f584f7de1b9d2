// Statistical tests for compare.h, which gives the reasons.
#pragma once

#include <cstddef>
#include <vector>

namespace profshim::analysis_detail {

/// One-sided p of the Mann-Whitney test; 1 if a sample is empty.
double longer_p(const std::vector<double>& shorter, const std::vector<double>& longer);

/// 1 / C(n + m, n).
double least_p(std::size_t n, std::size_t m);
/// Steps that p <= `alpha` / `rows` needs; at least 3, for the thirds.
std::size_t steps_needed(double alpha, std::size_t rows);

/// `t` must be >= 0.
double student_tail(double t, std::size_t freedom);

/// Compares the medians of thirds, in order of time.
bool in_every_third(const std::vector<double>& shorter, const std::vector<double>& longer);

/// True for rejected hypotheses.
std::vector<bool> holm(const std::vector<double>& p, double alpha);

}  // namespace profshim::analysis_detail
