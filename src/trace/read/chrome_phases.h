// Values of "ph" that Kineto does not write. Chrome's format has them.
#pragma once

namespace profshim::trace_detail::chrome_phase {

inline constexpr char kBegin = 'B';
inline constexpr char kEnd = 'E';
// The older letters of asynchronous events and of instants.
inline constexpr char kOldAsyncBegin = 'S';
inline constexpr char kOldAsyncStep = 'T';
inline constexpr char kOldAsyncPast = 'p';
inline constexpr char kOldAsyncEnd = 'F';
inline constexpr char kMark = 'R';

}  // namespace profshim::trace_detail::chrome_phase
