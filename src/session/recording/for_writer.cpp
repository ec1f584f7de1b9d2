#include "for_writer.h"

#include <algorithm>

#include "profshim/call_stack.h"
#include "profshim/device.h"
#include "profshim/recorder_control.h"

namespace profshim::session {

bool RecordingForWriter::is_armed() const { return (recorder::mode() & recorder::kArmed) != 0; }

bool RecordingForWriter::has_settled(Ticks window_end) { return device::has_settled(window_end); }

void RecordingForWriter::complete_spool() {
  recorder::add_anchor(take_anchor());
  call_stack::define_modules();
}

void RecordingForWriter::complete_stacks() {
  if ((recorder::mode() & recorder::kStacks) != 0) call_stack::define_modules();
}

void RecordingForWriter::add_problem(const char* matter, const std::string& sentence) {
  recorder::problem(matter, sentence);
}

void RecordingForWriter::remove_spool() {
  recorder::header().finished.store(1);
  session::remove_spool(r_.plan, r_.place);
}

bool RecordingForWriter::has_idle_work() const {
  return wants_look_for_steps() || (may_measure_costs() && r_.costs.has_more());
}

void RecordingForWriter::do_idle_work() {
  if (wants_look_for_steps()) r_.finder->look_if_wanted();
  if (may_measure_costs()) r_.costs.measure();
}

write::WritePlan plan_for_writer(const Plan& plan, const SpoolPlace& place) {
  // malloc reserves 64 MiB of address space for each compressing thread.
  const bool scarce = place.bound == recorder::Bound::kAddressSpace;
  return {.spec = plan.spec,
          .rank = plan.rank,
          .folder = plan.folder,
          .run_name = plan.run_name,
          .run_id = plan.run_id,
          .attempt = plan.attempt,
          .is_first_selected = plan.is_first_selected,
          .gzip_threads = scarce ? 0 : static_cast<int>(std::min<std::uint64_t>(4, place.bytes / (16 << 20))),
          .spool_path = recorder::path(),
          .spool = const_cast<char*>(recorder::data()),
          .spool_bytes = recorder::size()};
}

}  // namespace profshim::session
