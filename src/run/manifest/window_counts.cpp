#include <algorithm>
#include <iterator>
#include <numeric>

#include "profshim/run/manifest.h"
#include "profshim/spool/format.h"

namespace profshim::run {
namespace {

struct Reason {
  const char *cause, *hint;
};
constexpr Reason kReasons[] = {
    {"the writer was behind", "record fewer windows, or write to a faster disk"},
    {"the writer was behind", "record fewer steps, or write to a faster disk"},
    {"the disk was full", "limits.disk_free"},
    {"two threads began windows at the same moment", ""},
};
static_assert(std::size(kReasons) == kLostWindowReasons);

std::string clause(std::uint64_t number, const std::string& words) {
  return number == 0 ? std::string() : "; " + std::to_string(number) + " " + words;
}

}  // namespace

void WindowCounts::add(const ManifestWindow& window) {
  if (window.status == "written") {
    ++written;
    if (!window.complete) ++incomplete;
  } else if (window.status == "empty") {
    ++empty;
  } else {
    ++failed;
  }
}

void WindowCounts::update(const spool::SpoolHeader& h) {
  for (std::size_t i = 0; i < kLostWindowReasons; ++i) lost[i] = h.windows_lost[i].load(std::memory_order_relaxed);
  const std::uint64_t opened = h.windows.load(std::memory_order_acquire);
  waiting = opened - std::min(opened, written + empty + discarded + failed);
  asked = written + empty + discarded + failed + waiting + all_lost();
}

std::uint64_t WindowCounts::all_lost() const { return std::accumulate(lost.begin(), lost.end(), std::uint64_t{0}); }

std::string WindowCounts::loss_text(bool is_over) const {
  if (all_lost() + failed + (is_over ? waiting : 0) == 0) return {};
  std::string text = std::to_string(written) + " of " + std::to_string(asked) + " windows written";
  for (std::size_t i = 0; i < kLostWindowReasons; ++i) {
    const Reason& reason = kReasons[i];
    const std::string hint = *reason.hint != 0 ? " (" + std::string(reason.hint) + ")" : "";
    text += clause(lost[i], "lost because " + std::string(reason.cause) + hint);
  }
  return text + clause(failed, "could not be written") +
         clause(waiting, is_over ? "not written before the job ended (profshim recover)" : "not written yet") +
         clause(empty, "had nothing to show") + clause(discarded, "discarded (schedule.on_exit)");
}

}  // namespace profshim::run
