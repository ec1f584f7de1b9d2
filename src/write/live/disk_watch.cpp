#include "disk_watch.h"

#include "profshim/base/clock.h"
#include "profshim/base/log.h"
#include "profshim/base/text/message_text.h"
#include "profshim/run/once_per_job.h"
#include "profshim/write/publish.h"

namespace profshim::write {

bool has_disk_space(const Spec& spec, const std::string& folder) {
  std::uint64_t free_bytes = 0;
  return enough_space(folder, spec.limits.disk_free, free_bytes);
}

void DiskWatch::check(bool soon) {
  constexpr std::int64_t kEvery_ns = 10'000'000'000;
  const std::int64_t now = monotonic_ns();
  if ((soon && !was_soon_) || now - checked_ns_ > kEvery_ns) {
    queue_.disk_is_full.store(!has_disk_space(plan_.spec, plan_.folder));
    checked_ns_ = now;
  }
  was_soon_ = soon;
  constexpr auto kDiskFull = static_cast<std::size_t>(LostWindow::kDiskFull);
  const spool::SpoolHeader& h = view_.header();
  if (is_said_ || h.windows_lost[kDiskFull].load() == 0) return;
  is_said_ = true;
  const std::uint64_t kept = plan_.spec.limits.disk_free;
  std::uint64_t free_bytes = 0;
  enough_space(plan_.folder, kept, free_bytes);
  const std::string sentence = "no window is opened: only " + format_size(free_bytes) + " free in " + plan_.folder +
                               ", limits.disk_free keeps " + format_size(kept);
  recording_.add_problem("output", sentence);
  if (!run::speaks_for_job(plan_.rank, plan_.folder, "disk", h.base_time_ns)) return;
  log::line(LogLevel::kWarn,
            "%s; PROFSHIM_FOLDER=PATH chooses another disk, PROFSHIM_SET=limits.disk_free=SIZE reserves less",
            sentence.c_str());
}

}  // namespace profshim::write
