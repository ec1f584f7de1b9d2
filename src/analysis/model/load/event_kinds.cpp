#include "event_kinds.h"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <string_view>

#include "analysis/model/activity_names.h"
#include "analysis/model/event_args.h"
#include "profshim/trace/schema.h"

namespace profshim::analysis_detail {
namespace {

namespace phase = schema::phase;

struct Words {
  std::string_view phases;
  const char *one, *many;
};

constexpr char kInstants[] = {phase::kInstant, phase::kOldInstant};
constexpr char kCounters[] = {phase::kCounter};
constexpr char kAsync[] = {phase::kAsyncBegin, phase::kAsyncInstant, phase::kAsyncEnd};
constexpr char kArrows[] = {phase::kFlowStart, phase::kFlowStep, phase::kFlowEnd};
constexpr char kMetadata[] = {phase::kMetadata};

template <std::size_t n>
constexpr std::string_view set(const char (&letters)[n]) {
  return {letters, n};
}

constexpr Words kWords[] = {
    {set(kInstants), "instant", "instants"},
    {set(kCounters), "counter value", "counter values"},
    {set(kAsync), "begin or end of an asynchronous slice", "begins and ends of asynchronous slices"},
    {set(kArrows), "end of an arrow", "ends of arrows"},
    {set(kMetadata), "name of a process or thread", "names of processes and threads"},
    {"", "event of another phase", "events of other phases"},
};

}  // namespace

std::size_t EventKinds::kind_of(char phase) {
  static_assert(std::tuple_size_v<decltype(counts_)> == std::size(kWords));
  const auto* const found = std::find_if(std::begin(kWords), std::end(kWords) - 1, [=](const Words& words) {
    return words.phases.find(phase) != std::string_view::npos;
  });
  return static_cast<std::size_t>(found - std::begin(kWords));
}

bool EventKinds::any() const {
  return std::any_of(counts_.begin(), counts_.end(), [](std::uint64_t count) { return count > 0; });
}

std::string EventKinds::text() const {
  std::string text;
  for (std::size_t i = 0; i < counts_.size(); ++i) {
    if (counts_[i] == 0) continue;
    text += (text.empty() ? "" : ", ") + std::to_string(counts_[i]) + ' ';
    text += counts_[i] == 1 ? kWords[i].one : kWords[i].many;
  }
  return text;
}

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
