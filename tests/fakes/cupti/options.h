// Environment variables that give the fake CUPTI the faults and the timing of real releases.
//
// Other variables:
//   FAKE_CUPTI_FAIL=f=r,...   every function whose name contains f returns r ("ActivityEnable=15")
//   FAKE_CUPTI_SUBSCRIBED=1   another subscriber exists from the start
//   FAKE_CUPTI_NO_CLOCK=1     cuptiActivityRegisterTimestampCallback is not supported
//   FAKE_CUPTI_SYNCHRONIZES=1 enabling kernels waits until every device is idle
//   FAKE_CUPTI_RECURSES=1     cuptiGetVersion ends the process if CUPTI cannot be initialized (seen: 13.2.23 to
//                             13.2.86 recurse endlessly)
//   FAKE_CUPTI_PER_THREAD=1   API records go into one buffer per thread also before 13.0
//   FAKE_CUPTI_LOG=file       one line for every call of CUPTI: nanoseconds, function, arguments (%p = process id)
//   FAKE_CUPTI_STATE=file     counters, and what is still enabled, when the process ends (%p = process id)
#pragma once

#include <cstdint>

#include "fakes/environment.h"

namespace fake::cupti {

struct Options {
  // ---- faults of every Nth device record; 0 = never

  /// FAKE_CUPTI_DROP: the record is dropped and counted by cuptiActivityGetNumDroppedRecords.
  const std::uint64_t drop = number("FAKE_CUPTI_DROP");
  /// FAKE_CUPTI_ZERO_TIME: the record has the times 0, 0.
  const std::uint64_t zero_time = number("FAKE_CUPTI_ZERO_TIME");
  /// FAKE_CUPTI_BACKWARD: the record ends before it begins.
  const std::uint64_t backward = number("FAKE_CUPTI_BACKWARD");
  /// FAKE_CUPTI_FAR: the record lies an hour in the past.
  const std::uint64_t far = number("FAKE_CUPTI_FAR");
  /// FAKE_CUPTI_UNKNOWN: the record has a correlation id that belongs to no call.
  const std::uint64_t unknown = number("FAKE_CUPTI_UNKNOWN");

  // ---- order and delays of records

  /// FAKE_CUPTI_SHUFFLE=1: device records are written when the activity has ended, in random order.
  const bool shuffle = number("FAKE_CUPTI_SHUFFLE") != 0;
  /// FAKE_CUPTI_RESERVE=0: device records are written when the activity has ended, as with the hardware's event
  /// system (cuptiActivityEnableHWTrace). Otherwise they are reserved at the launch.
  const bool reserves = !shuffle && number("FAKE_CUPTI_RESERVE", 1) != 0;
  /// FAKE_CUPTI_LATE_MS: device records become complete this long after the end of the activity.
  const std::uint64_t late_ns = number("FAKE_CUPTI_LATE_MS") * 1000000;
  /// FAKE_CUPTI_SLOW_FLUSH_MS: a forced flush sleeps this long before it returns buffers.
  const std::uint64_t slow_flush_ms = number("FAKE_CUPTI_SLOW_FLUSH_MS");
  /// FAKE_CUPTI_SLOW_ENABLE_MS: enabling kernels takes this long (over 5 s were seen: kineto, pull request 542).
  const std::uint64_t slow_enable_ms = number("FAKE_CUPTI_SLOW_ENABLE_MS");
  /// FAKE_CUPTI_DISABLE_HANGS_MS: the first disable of kernels takes this long (13.0 GA: it waits for a lock that a
  /// launch holds).
  const std::uint64_t disable_hangs_ms = number("FAKE_CUPTI_DISABLE_HANGS_MS");
  /// FAKE_CUPTI_COST_NS: every API call takes this much longer from the first enable to cuptiFinalize (pytorch#146604).
  const std::uint64_t cost_ns = number("FAKE_CUPTI_COST_NS");

  // ---- locks

  /// FAKE_CUPTI_BLOCKS=1: no API call runs while a kind is enabled or disabled.
  const bool blocks = number("FAKE_CUPTI_BLOCKS") != 0;
  /// FAKE_CUPTI_CALLBACK_LOCK=1: nothing is enabled or disabled while a callback of the Callback API runs.
  const bool callbacks_lock = number("FAKE_CUPTI_CALLBACK_LOCK") != 0;

  // ---- bugs of single releases

  /// FAKE_CUPTI_HEAD_KERNEL: after k repeated registrations of a timestamp callback, the first k device records of
  /// every later session have times of CUPTI's default clock (pytorch#192021, which does not name the clock).
  /// 1 = CLOCK_REALTIME, 2 = CLOCK_MONOTONIC.
  const std::uint64_t head_clock = number("FAKE_CUPTI_HEAD_KERNEL");
  /// FAKE_CUPTI_OLD_GRAPHS=1: the nodes of graphs instantiated before the first enable have no records
  /// (torch.profiler._utils._init_for_cuda_graphs works around it).
  const bool old_graphs = number("FAKE_CUPTI_OLD_GRAPHS") != 0;
  /// FAKE_CUPTI_GRAPH_SESSIONS=1: in every session but the first, the nodes of a graph launch have the correlation id
  /// of the previous launch (13.0.85: kineto#1165, fixed in 13.1 update 1).
  const bool graph_sessions = number("FAKE_CUPTI_GRAPH_SESSIONS") != 0;
  /// FAKE_CUPTI_POOL=N: after N kernels of graphs, the next one ends before it begins and all later ones have times of
  /// 0 (parcagpu#23: 1 and 100,196 of 100,197 kernels, when the pool of device buffers ran out).
  const std::uint64_t pool = number("FAKE_CUPTI_POOL");
  /// FAKE_CUPTI_NESTED=0: driver calls inside runtime calls are not reported.
  const bool nested = number("FAKE_CUPTI_NESTED", 1) != 0;
};

}  // namespace fake::cupti
