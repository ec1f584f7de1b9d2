// Are the steps of one run longer than those of another? Why it is done like that: include/profshim/analysis/compare.h.
#pragma once

#include <cstddef>
#include <vector>

namespace profshim::analysis_detail {

/// One-sided p of the Mann-Whitney test: how likely `longer` would be at least so much longer than `shorter` if both
/// came from the same distribution. 1 where one of them is empty.
double longer_p(const std::vector<double>& shorter, const std::vector<double>& longer);

/// The least p that so many samples can give: 1 / C(n + m, n).
double least_p(std::size_t n, std::size_t m);
/// So many steps in each run it takes for a p of at most `alpha` / `rows`, and for thirds.
std::size_t steps_needed(double alpha, std::size_t rows);

/// How likely a value of Student's t with so many degrees of freedom is at least `t`, which is not negative.
double student_tail(double t, std::size_t freedom);

/// Every third of `longer`, in order, has a larger median than every third of `shorter`.
bool in_every_third(const std::vector<double>& shorter, const std::vector<double>& longer);

/// Which of these hypotheses Holm's procedure rejects at family-wise `alpha`.
std::vector<bool> holm(const std::vector<double>& p, double alpha);

}  // namespace profshim::analysis_detail
