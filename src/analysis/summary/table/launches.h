#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "analysis/model/timeline.h"

namespace profshim::analysis_detail {

constexpr bool is_api_call(Kind kind) { return kind == Kind::kRuntime || kind == Kind::kDriver; }

/// Returns indices of slices, or kNone.
class Launches {
 public:
  explicit Launches(const Timeline& timeline);
  std::uint32_t operator_of_call(const Slice& call) const;
  /// Returns the operator that launched `activity`, or else the API call.
  std::uint32_t launcher_of(const Slice& activity) const;

 private:
  using Link = std::pair<std::int64_t, std::uint32_t>;  // External id or correlation, slice

  static std::uint32_t find(const std::vector<Link>& links, std::int64_t number);

  const Timeline& timeline_;
  std::vector<Link> operators_;
  std::vector<Link> calls_;
};

}  // namespace profshim::analysis_detail
