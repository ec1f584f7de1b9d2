// Finds the operator that made an API call, and the host event that launched device activity.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "analysis/model/timeline.h"

namespace profshim::analysis_detail {

constexpr bool is_api_call(Kind kind) { return kind == Kind::kRuntime || kind == Kind::kDriver; }

/// The timeline must outlive it. Slices are given by their index; kNone = there is none.
class Launches {
 public:
  explicit Launches(const Timeline& timeline);
  std::uint32_t operator_of_call(const Slice& call) const;
  /// Returns the operator that made the launch, or the launch if no operator made it.
  std::uint32_t launcher_of(const Slice& activity) const;

 private:
  using Link = std::pair<std::int64_t, std::uint32_t>;  // a number that joins slices, and a slice that has it

  static std::uint32_t find(const std::vector<Link>& links, std::int64_t number);

  const Timeline& timeline_;
  std::vector<Link> operators_;  // by external id
  std::vector<Link> calls_;      // by correlation
};

}  // namespace profshim::analysis_detail
