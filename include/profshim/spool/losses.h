// The kinds of loss (losses.def), and the reasons why a window that the schedule asks for has no trace.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace profshim {

/// Counters of SpoolHeader.
enum class Loss : std::uint8_t {
#define LOSS(counter, key, extent, sentence) counter,
#include "profshim/spool/losses.def"
  kCount
};
inline constexpr std::size_t kLosses = static_cast<std::size_t>(Loss::kCount);

/// When a loss in the process is a loss of a window.
enum class LossExtent : std::uint8_t {
  kInDropped,     // its events count in "dropped_events"
  kInWindow,      // counted while the window was open
  kUntilWritten,  // ... or until the window was written: losses of GPU activity are seen late
  kUntilEnd,      // counted before the end of the window: a full table stays full
};

struct LossRow {
  std::string_view key;  // in the object "profshim" of a trace
  LossExtent extent;
  std::string_view sentence;  // follows the count
};
inline constexpr LossRow kLossRows[] = {
#define LOSS(counter, key, extent, sentence) {key, LossExtent::extent, sentence},
#define WINDOW_LOSS(name, key, sentence) {key, LossExtent::kInWindow, sentence},
#include "profshim/spool/losses.def"
};

/// Why a window that the schedule asks for was never opened.
enum class LostWindow : std::uint8_t {
  kQueueFull,  // kMaxWindows windows waited for the writer
  kMarksFull,  // kMaxMarks steps waited for the writer
  kDiskFull,   // limits.disk_free
  kAtOnce,     // two threads began windows at the same moment
  kCount
};
inline constexpr std::size_t kLostWindowReasons = static_cast<std::size_t>(LostWindow::kCount);

}  // namespace profshim
