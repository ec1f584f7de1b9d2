// Environment variables that give the fake CUPTI the faults and the timing of real releases.
//
// Other variables:
//   FAKE_CUPTI_FAIL=f=r,...   functions whose name contains f return r ("ActivityEnable=15")
//   FAKE_CUPTI_SUBSCRIBED=1   another subscriber exists from the start
//   FAKE_CUPTI_NO_CLOCK=1     cuptiActivityRegisterTimestampCallback is not supported
//   FAKE_CUPTI_SYNCHRONIZES=1 enabling kernels waits until every device is idle
//   FAKE_CUPTI_RECURSES=1     cuptiGetVersion ends the process if CUPTI cannot be initialized (seen: 13.2.23 to
//                             13.2.86 recurse endlessly)
//   FAKE_CUPTI_PER_THREAD=1   one buffer of records per thread also before 13.0
//   FAKE_CUPTI_LOG=file       one line for most calls: nanoseconds, function, arguments (%p = process id)
//   FAKE_CUPTI_STATE=file     counters and enabled kinds at exit (%p = process id)
#pragma once

#include <cstdint>

#include "fakes/environment.h"

namespace fake::cupti {

struct Options {
  // Faults of every Nth device record; N is the value, 0 = never.

  /// The record is dropped, and counted by cuptiActivityGetNumDroppedRecords.
  const std::uint64_t drop = number("FAKE_CUPTI_DROP");
  /// The record begins and ends at 0.
  const std::uint64_t zero_time = number("FAKE_CUPTI_ZERO_TIME");
  /// The record ends before it begins.
  const std::uint64_t backward = number("FAKE_CUPTI_BACKWARD");
  /// The record lies an hour in the past.
  const std::uint64_t far = number("FAKE_CUPTI_FAR");
  /// The record's correlation id belongs to no call.
  const std::uint64_t unknown = number("FAKE_CUPTI_UNKNOWN");

  /// Device records are written at the end of the activity, in random order.
  const bool shuffle = number("FAKE_CUPTI_SHUFFLE") != 0;
  /// 0: device records are written at the end of the activity, as with the hardware's event system
  /// (cuptiActivityEnableHWTrace). 1: the launch reserves their place in a buffer.
  const bool reserves = !shuffle && number("FAKE_CUPTI_RESERVE", 1) != 0;
  /// Delay of device records after the end of the activity.
  const std::uint64_t late_ns = number("FAKE_CUPTI_LATE_MS") * 1000000;
  /// A forced flush sleeps this long before it returns buffers.
  const std::uint64_t slow_flush_ms = number("FAKE_CUPTI_SLOW_FLUSH_MS");
  /// Enabling kernel records takes this long (over 5 s seen: kineto, pull request 542).
  const std::uint64_t slow_enable_ms = number("FAKE_CUPTI_SLOW_ENABLE_MS");
  /// The first disabling of kernel records takes this long (13.0 GA: it waits for a lock that a launch holds).
  const std::uint64_t disable_hangs_ms = number("FAKE_CUPTI_DISABLE_HANGS_MS");
  /// A flush ends the process if kernels went on, off and on again (CUPTI 13.0 and 13.1: tests/gpu/RESULTS.md, "kernels
  /// that go on again").
  const bool again_crashes = number("FAKE_CUPTI_AGAIN_CRASHES") != 0;
  /// Extra time of every API call from the first enable to cuptiFinalize (pytorch#146604).
  const std::uint64_t cost_ns = number("FAKE_CUPTI_COST_NS");

  /// API calls wait while a kind is switched on or off.
  const bool blocks = number("FAKE_CUPTI_BLOCKS") != 0;
  /// Switching a kind waits while a callback of the Callback API runs.
  const bool callbacks_lock = number("FAKE_CUPTI_CALLBACK_LOCK") != 0;

  /// After k repeated registrations of a timestamp callback, the first k device records after each enabling of kernel
  /// records have times of CUPTI's default clock: 1 = CLOCK_REALTIME, 2 = CLOCK_MONOTONIC (pytorch#192021 does not say
  /// which).
  const std::uint64_t head_clock = number("FAKE_CUPTI_HEAD_KERNEL");
  /// Nodes of graphs instantiated before the first enable have no records (torch.profiler._utils._init_for_cuda_graphs
  /// works around it).
  const bool old_graphs = number("FAKE_CUPTI_OLD_GRAPHS") != 0;
  /// From the second enabling of kernel records on, nodes have the correlation id of the previous graph launch
  /// (13.0.85: kineto#1165, fixed in 13.1 update 1).
  const bool graph_sessions = number("FAKE_CUPTI_GRAPH_SESSIONS") != 0;
  /// After N nodes of graphs, the next node ends before it begins and all later nodes have times of 0 (parcagpu#23: 1
  /// and 100,196 of 100,197 kernels, when the pool of device buffers ran out).
  const std::uint64_t pool = number("FAKE_CUPTI_POOL");
  /// 0: driver calls inside runtime calls are not reported.
  const bool nested = number("FAKE_CUPTI_NESTED", 1) != 0;
};

}  // namespace fake::cupti
