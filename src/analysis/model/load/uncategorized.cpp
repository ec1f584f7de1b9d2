#include "uncategorized.h"

#include "analysis/model/event_args.h"
#include "analysis/model/names/activity_names.h"
#include "profshim/trace/schema.h"

namespace profshim::analysis_detail {
namespace {

// torch_npu's names of processes. Until 2024, collectives were under "HCCL".
constexpr std::string_view kDevice = "Ascend Hardware", kCollectives = "Communication", kCollectives2023 = "HCCL";
constexpr std::string_view kCollectiveStart = "hcom_";

}  // namespace

void Uncategorized::note_process(const ReadEvent& event) {
  if (event.name != schema::metadata::kProcessName || !event.pid_is_number) return;
  processes_[event.pid] = text_arg(event, schema::arg::kName);
}

std::uint64_t Uncategorized::find_kinds(Timeline& timeline) const {
  std::uint64_t unknown = 0;
  std::int64_t device = -1;
  for (const auto& [pid, name] : processes_) {
    if (name == kDevice) device = pid;
  }
  for (const std::uint32_t index : slices_) {
    Slice& slice = timeline.slices[index];
    Track& track = timeline.tracks[slice.track];
    const auto process = track.pid_text == 0 ? processes_.find(track.pid) : processes_.end();
    const std::string_view process_name = process == processes_.end() ? std::string_view() : process->second;
    const std::string_view name = timeline.name_of(slice);
    slice.kind = kind_without_category(process_name, name);
    const bool communicates =
        process_name == kCollectives || process_name == kCollectives2023 || (device >= 0 && track.pid == device);
    if (communicates && name.starts_with(kCollectiveStart)) {
      slice.kind = Kind::kKernel;
      if (device >= 0) track.pid = device;
    }
    unknown += slice.kind == Kind::kOther ? 1 : 0;
  }
  return unknown;
}

}  // namespace profshim::analysis_detail
