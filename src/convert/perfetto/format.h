// The mapping of Kineto traces to Perfetto's protobuf, and its field numbers
// (https://perfetto.dev/docs/reference/trace-packet-proto).
//
//    process_name, _labels, _sort_index   TrackDescriptor with a ProcessDescriptor
//    thread_name, _sort_index             TrackDescriptor with a ThreadDescriptor; a plain track if the tid is no valid
//                                         thread number ("Spans", -1)
//    X                                    TYPE_SLICE_BEGIN and _END on the thread's track; on an overflow track if
//                                         slices overlap in part (Perfetto's JSON importer drops those)
//    b, e                                 the same on process tracks named like the event
//    i, n                                 TYPE_INSTANT on the thread's, the process's or a global track
//    C                                    TYPE_COUNTER, one track per value
//    s, t, f                              flow_ids and terminating_flow_ids of the slices, one id per arrow
//    args                                 debug_annotations; lists and objects as legacy_json_value
//    members other than traceEvents       debug_annotations of an instant on a track "trace metadata"
//
// Times are exact ns (baseTimeNanoseconds + ts) on BUILTIN_CLOCK_BOOTTIME, which Perfetto shows. If they count from the
// epoch, a ClockSnapshot makes BUILTIN_CLOCK_REALTIME equal to BOOTTIME.
#pragma once

#include <cstdint>

namespace profshim::convert_detail::field {

using Number = std::uint32_t;

inline constexpr Number kTracePacket = 1;

namespace packet {
inline constexpr Number kClockSnapshot = 6, kTimestamp = 8, kSequenceId = 10, kTrackEvent = 11, kInternedData = 12,
                        kSequenceFlags = 13, kTrackDescriptor = 60;
inline constexpr std::uint32_t kStateCleared = 1, kNeedsState = 2;
}  // namespace packet

namespace snapshot {
inline constexpr Number kClocks = 1, kPrimaryClock = 2, kClockId = 1, kClockTimestamp = 2;
inline constexpr std::uint32_t kRealtime = 1, kBoottime = 6;
}  // namespace snapshot

namespace track {
inline constexpr Number kUuid = 1, kName = 2, kProcess = 3, kThread = 4, kParent = 5, kCounter = 8;
inline constexpr Number kProcessPid = 1, kProcessSortIndex = 3, kProcessName = 6, kProcessLabels = 8;
inline constexpr Number kThreadPid = 1, kThreadTid = 2, kThreadSortIndex = 3, kThreadName = 5;
}  // namespace track

namespace event {
inline constexpr Number kCategoryIids = 3, kAnnotations = 4, kType = 9, kNameIid = 10, kTrack = 11, kCounter = 30,
                        kCounterDouble = 44, kFlows = 47, kTerminatingFlows = 48;
inline constexpr std::int32_t kBegin = 1, kEnd = 2, kInstant = 3, kCounterType = 4;
}  // namespace event

namespace annotation {
inline constexpr Number kNameIid = 1, kBool = 2, kUint = 3, kInt = 4, kDouble = 5, kString = 6, kJson = 9,
                        kStringIid = 17;
}  // namespace annotation

namespace interned {
inline constexpr Number kCategories = 1, kNames = 2, kAnnotationNames = 3, kStrings = 29, kIid = 1, kText = 2;
}  // namespace interned

}  // namespace profshim::convert_detail::field
