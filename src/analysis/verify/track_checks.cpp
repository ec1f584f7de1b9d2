#include "track_checks.h"

#include <algorithm>
#include <charconv>
#include <functional>

#include "gpu_checks.h"
#include "profshim/trace/schema.h"

namespace profshim::analysis_detail {
namespace {

constexpr std::int64_t kRoundingNs = 1000;

std::uint64_t mix(std::uint64_t a, std::uint64_t b) { return a ^ (b + 0x9e3779b97f4a7c15ull + (a << 12) + (a >> 4)); }

std::uint64_t identity(bool is_number, std::int64_t number, std::string_view text) {
  return is_number ? std::hash<std::int64_t>{}(number) : ~std::hash<std::string_view>{}(text);
}

// Follows HTA's pattern ProfilerStep\s*#\s*(\d+).
bool step_number(std::string_view name, std::int64_t& number) {
  const auto skip_blanks = [&] { name.remove_prefix(std::min(name.find_first_not_of(" \t"), name.size())); };
  skip_blanks();
  if (!name.starts_with('#')) return false;
  name.remove_prefix(1);
  skip_blanks();
  return std::from_chars(name.data(), name.data() + name.size(), number).ec == std::errc{} && number >= 0;
}

}  // namespace

std::uint64_t track_of(const ReadEvent& event) {
  return mix(identity(event.pid_is_number, event.pid, event.pid_text),
             identity(event.tid_is_number, event.tid, event.tid_text));
}

void TrackChecks::on_event(const ReadEvent& event) {
  if (!event.has_ts) return;
  if (event.is(schema::phase::kAsyncBegin) || event.is(schema::phase::kAsyncEnd)) {
    if (!event.has_id) return;
    const std::uint64_t key = mix(
        mix(identity(event.pid_is_number, event.pid, event.pid_text), std::hash<std::string_view>{}(event.category)),
        static_cast<std::uint64_t>(event.id));
    async_.push_back(
        {.key = key, .ts_ns = event.ts_ns, .offset = event.offset, .ends = event.is(schema::phase::kAsyncEnd)});
  }
  if (!event.is(schema::phase::kSlice) || !event.has_duration || event.duration_ns < 0) return;
  std::int64_t end_ns = 0;
  if (__builtin_add_overflow(event.ts_ns, event.duration_ns, &end_ns)) end_ns = event.ts_ns;
  const Slice slice{event.ts_ns, end_ns, event.offset};
  Track& track = tracks_[track_of(event)];
  track.slices.push_back(slice);
  track.gpu = track.gpu || is_gpu_work(event.category);

  constexpr std::string_view kStep = schema::name::kStepWord;
  if (!event.name.starts_with(kStep)) return;
  std::int64_t number = 0;
  if (!step_number(event.name.substr(kStep.size()), number)) {
    if (misnamed_steps_++ == 0) misnamed_where_ = where_is(event);
  } else if (event.category == schema::category::kGpuUserAnnotation) {
    gpu_steps_ = true;
  } else {
    steps_.push_back({number, slice, track_of(event), event.pid});
  }
}

void TrackChecks::check_nesting(Track& track, Findings& findings) {
  std::vector<Slice>& slices = track.slices;
  std::sort(slices.begin(), slices.end(), [](const Slice& a, const Slice& b) {
    return a.begin_ns != b.begin_ns ? a.begin_ns < b.begin_ns : a.end_ns > b.end_ns;
  });
  std::vector<std::int64_t> open;
  for (const Slice& slice : slices) {
    while (!open.empty() && open.back() <= slice.begin_ns) open.pop_back();
    if (!open.empty() && slice.end_ns > open.back()) {
      const bool rounding = slice.end_ns - open.back() < kRoundingNs;
      if (track.gpu) {
        findings.should(23, "work of one stream overlaps: older viewers drop it", where_is(slice.offset));
      } else if (rounding) {
        findings.must(24, "a slice ends less than 1 us after the one around it", where_is(slice.offset));
      } else {
        findings.should(23, "slices of one thread overlap and do not nest", where_is(slice.offset));
      }
      // Keep the later end, so that one overlap is reported once.
      while (!open.empty() && open.back() < slice.end_ns) open.pop_back();
    }
    open.push_back(slice.end_ns);
  }
}

void TrackChecks::check_async(Findings& findings) {
  std::sort(async_.begin(), async_.end(), [](const AsyncEnd& a, const AsyncEnd& b) {
    if (a.key != b.key) return a.key < b.key;
    return a.ts_ns != b.ts_ns ? a.ts_ns < b.ts_ns : a.ends < b.ends;
  });
  std::uint64_t begun = 0;
  for (std::size_t i = 0; i < async_.size(); ++i) {
    const AsyncEnd& end = async_[i];
    if (!end.ends) {
      ++begun;
    } else if (begun == 0) {
      findings.must(41, "an asynchronous event (e) ends that has not begun", where_is(end.offset));
    } else {
      --begun;
    }
    if (i + 1 < async_.size() && async_[i + 1].key == end.key) continue;
    if (begun > 0) findings.must(41, "an asynchronous event (b) never ends", where_is(end.offset));
    begun = 0;
  }
}

std::vector<std::int64_t> TrackChecks::check_steps(Findings& findings, bool merged) {
  if (misnamed_steps_ > 0) {
    findings.breaks(consumer::kHtaAndTensorBoard, 25, "a name starts with ProfilerStep and is no ProfilerStep#N",
                    misnamed_where_);
  }
  if (gpu_steps_) findings.should(26, "ProfilerStep as gpu_user_annotation: torch_tb_profiler counts every step twice");
  if (!merged) {
    for (Step& step : steps_) step.process = 0;
  }
  std::sort(steps_.begin(), steps_.end(), [](const Step& a, const Step& b) {
    return a.process != b.process ? a.process < b.process : a.slice.begin_ns < b.slice.begin_ns;
  });
  std::vector<std::int64_t> numbers;
  for (std::size_t i = 0; i < steps_.size(); ++i) {
    if (steps_[i].process == steps_[0].process) numbers.push_back(steps_[i].number);
    if (i == 0 || steps_[i].process != steps_[i - 1].process) continue;
    const Step &step = steps_[i], &before = steps_[i - 1];
    const std::string where =
        std::string(schema::name::kStepStart) + std::to_string(step.number) + " " + where_is(step.slice.offset);
    if (step.track != before.track) findings.must(25, "steps on more than one thread", where);
    if (step.number - 1 != before.number) findings.must(25, "steps are not consecutive", where);
    if (step.slice.begin_ns < before.slice.end_ns) findings.must(25, "steps overlap", where);
  }
  if (steps_.size() < 3) {
    findings.should(25, "fewer than three ProfilerStep marks: no analysis by step in HTA",
                    "found " + std::to_string(steps_.size()));
  }
  return numbers;
}

std::vector<std::int64_t> TrackChecks::finish(Findings& findings, bool merged) {
  for (auto& [id, track] : tracks_) check_nesting(track, findings);
  check_async(findings);
  return check_steps(findings, merged);
}

}  // namespace profshim::analysis_detail
