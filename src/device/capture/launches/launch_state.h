// LaunchState: the states of one launch while LaunchTracker knows it, and all transitions between them.
#pragma once

#include <cstdint>

namespace profshim::device {

/// CUPTI delivers the record of the API call and the records of its device activity in any order:
///
///   kUnknown ------call-----> kAwaited ---activity--> kDelivered --> forgotten
///       |                                                 ^
///       +----activity----> kActivityOnly ------call-------+
///
/// A launch leaves the tracker in these ways:
/// - kUnknown: a record says that the call launches nothing (on_call);
/// - kDelivered: at once if nothing more can come; launches with an external id or with graph nodes stay for the sweep;
/// - any state: the sweep, some seconds after the last record, if it is not outstanding;
/// - kAwaited, and kDelivered with missing nodes: give_up_before().
enum class LaunchState : std::uint8_t {
  kUnknown,       // only an external id has come
  kActivityOnly,  // activity has come, the call has not
  kAwaited,       // the call has come and succeeded, activity has not
  kDelivered,     // the call and activity have come; of a graph launch, nodes may be missing
};

/// A record that changes the state.
enum class LaunchRecord : std::uint8_t {
  kCall,      // of the API call, which launched
  kActivity,  // of a kernel, copy, memset or graph
};

constexpr bool has_call(LaunchState state) {
  return state == LaunchState::kAwaited || state == LaunchState::kDelivered;
}
constexpr bool has_activity(LaunchState state) {
  return state == LaunchState::kActivityOnly || state == LaunchState::kDelivered;
}

/// Returns the state after a record. A second record of the same sort changes nothing.
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
