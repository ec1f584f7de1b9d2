#pragma once

#include <cstdint>

namespace profshim::device {

/// States of a launch in LaunchTracker. Records of the call and of its activity come in any order:
///
///  kUnknown ------call-----> kAwaited ---activity--> kDelivered --> forgotten
///      |                                                 ^
///      +----activity----> kActivityOnly ------call-------+
enum class LaunchState : std::uint8_t {
  kUnknown,  // only an external id is known
  kActivityOnly,
  kAwaited,    // no activity yet
  kDelivered,  // graph nodes may be missing
};

enum class LaunchRecord : std::uint8_t {
  kCall,
  kActivity,
};

constexpr bool has_call(LaunchState state) {
  return state == LaunchState::kAwaited || state == LaunchState::kDelivered;
}
constexpr bool has_activity(LaunchState state) {
  return state == LaunchState::kActivityOnly || state == LaunchState::kDelivered;
}

constexpr LaunchState after(LaunchState state, LaunchRecord record) {
  switch (record) {
    case LaunchRecord::kCall:
      return has_activity(state) ? LaunchState::kDelivered : LaunchState::kAwaited;
    case LaunchRecord::kActivity:
      return has_call(state) ? LaunchState::kDelivered : LaunchState::kActivityOnly;
  }
  return state;
}

}  // namespace profshim::device
