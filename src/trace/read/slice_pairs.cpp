#include "slice_pairs.h"

#include <algorithm>
#include <string_view>

#include "profshim/base/key_hash.h"
#include "profshim/trace/schema.h"

namespace profshim::trace_detail {
namespace {

constexpr std::uint64_t kMostOpen = 1'000'000;
constexpr std::size_t kDeepest = 512;  // as in Perfetto

std::uint64_t key_of(const ReadEvent& event) {
  const std::uint64_t process = mixed(mixed(kKeyStart, event.pid), event.pid_text);
  return mixed(mixed(process, event.tid), event.tid_text);
}

bool fits(std::string_view begin, std::string_view end) { return end.empty() || begin == end; }

void end_at(ReadEvent& slice, std::int64_t end_ns) {
  static constexpr char kSlice[] = {schema::phase::kSlice};
  slice.phase = {kSlice, 1};
  slice.has_duration = true;
  slice.duration_ns = end_ns - slice.ts_ns;
  slice.duration_us = static_cast<double>(slice.duration_ns) / 1000;
}

}  // namespace

SlicePairs::Thread& SlicePairs::thread_of(const ReadEvent& event) {
  const std::uint64_t key = key_of(event);
  Recent& recent = recent_[(key >> 32) % recent_.size()];
  if (recent.thread == nullptr || recent.key != key) recent = {key, &threads_[key]};
  return *recent.thread;
}

void SlicePairs::whole(const ReadEvent& event) {
  if (event.duration_ns <= 0) return;
  Thread& thread = thread_of(event);
  const Span span{event.ts_ns, event.ts_ns + event.duration_ns};
  std::size_t depth = 0;
  for (auto at = thread.open.rbegin(); at != thread.open.rend() && depth < kDeepest; ++at, ++depth) {
    if ((*at)->event.ts_ns <= span.begin_ns) break;
    if ((*at)->event.ts_ns < span.end_ns) (*at)->limit_ns = std::min((*at)->limit_ns, span.end_ns);
  }
  const auto is_past = [&](const Span& other) {
    return other.end_ns <= span.begin_ns || (other.begin_ns >= span.begin_ns && other.end_ns <= span.end_ns);
  };
  while (!thread.whole.empty() && is_past(thread.whole.back())) thread.whole.pop_back();
  if (thread.whole.size() < kDeepest) thread.whole.push_back(span);
}

bool SlicePairs::begin(const ReadEvent& event) {
  if (open_ == kMostOpen) return false;
  auto kept = std::make_unique<Kept>();
  kept->event = event;
  kept->args.assign(event.args.begin(), event.args.end());
  std::vector<std::string_view*> views = {&kept->event.category, &kept->event.name, &kept->event.pid_text,
                                          &kept->event.tid_text, &kept->event.scope};
  for (ReadEvent::ReadArg& arg : kept->args) views.insert(views.end(), {&arg.key, &arg.text});
  std::size_t size = 0;
  for (const std::string_view* const view : views) size += view->size();
  kept->texts.reserve(size);
  for (std::string_view* const view : views) {
    const std::size_t at = kept->texts.size();
    kept->texts += *view;
    *view = std::string_view(kept->texts.data() + at, view->size());
  }
  kept->event.args = kept->args;
  Thread& thread = thread_of(event);
  cut_before(thread, event.ts_ns);
  if (!thread.open.empty()) kept->limit_ns = thread.open.back()->limit_ns;
  for (const Span& span : thread.whole) {
    if (span.begin_ns <= event.ts_ns && event.ts_ns < span.end_ns)
      kept->limit_ns = std::min(kept->limit_ns, span.end_ns);
  }
  thread.open.push_back(std::move(kept));
  ++open_;
  return true;
}

const ReadEvent* SlicePairs::end(const ReadEvent& event) {
  const auto at = threads_.find(key_of(event));
  if (at == threads_.end()) return nullptr;
  auto& open = at->second.open;
  cut_before(at->second, event.ts_ns);
  const auto found = std::find_if(open.rbegin(), open.rend(), [&](const auto& kept) {
    return fits(kept->event.name, event.name) && fits(kept->event.category, event.category);
  });
  if (found == open.rend()) return nullptr;
  for (auto inner = open.rbegin(); inner != found; ++inner) {
    (*inner)->limit_ns = std::min((*inner)->limit_ns, event.ts_ns);
  }
  ended_ = std::move(*found);
  open.erase(std::next(found).base());
  --open_;
  ReadEvent& slice = ended_->event;
  end_at(slice, event.ts_ns);
  slice.finer_than_ns = slice.finer_than_ns || event.finer_than_ns;
  slice.has_text_times = slice.has_text_times || event.has_text_times;
  // The views of the end's arguments live as long as the caller's event.
  ended_->args.insert(ended_->args.end(), event.args.begin(), event.args.end());
  slice.args = ended_->args;
  return &slice;
}

/// Ends the slices whose surrounding slice ended before `ts_ns`.
void SlicePairs::cut_before(Thread& thread, std::int64_t ts_ns) {
  while (!thread.open.empty() && thread.open.back()->limit_ns < ts_ns) {
    const std::int64_t end_ns = thread.open.back()->limit_ns;
    take_cut(std::move(thread.open.back()), end_ns);
    thread.open.pop_back();
    ++cut_;
  }
}

void SlicePairs::take_cut(std::unique_ptr<Kept> kept, std::int64_t end_ns) {
  end_at(kept->event, std::max(end_ns, kept->event.ts_ns));
  cut_slices_.push_back(std::move(kept));
  --open_;
}

std::uint64_t SlicePairs::finish(std::int64_t last_ns) {
  std::uint64_t unfinished = 0;
  const std::size_t first = cut_slices_.size();
  for (auto& [key, thread] : threads_) {
    for (auto& kept : thread.open) {
      const bool is_cut = kept->limit_ns != kNever;
      is_cut ? ++cut_ : ++unfinished;
      if (!is_cut) {
        kept->args.push_back({.key = schema::arg::kFinished, .kind = ReadEvent::ReadArg::Kind::kBool, .text = "false"});
        kept->event.args = kept->args;
      }
      const std::int64_t end_ns = is_cut ? kept->limit_ns : last_ns;
      take_cut(std::move(kept), end_ns);
    }
  }
  threads_.clear();
  recent_.fill({});
  std::sort(cut_slices_.begin() + static_cast<std::ptrdiff_t>(first), cut_slices_.end(),
            [](const auto& a, const auto& b) { return a->event.offset < b->event.offset; });
  return unfinished;
}

const ReadEvent* SlicePairs::take_next_cut() {
  if (next_cut_ == cut_slices_.size()) {
    cut_slices_.clear();
    next_cut_ = 0;
    return nullptr;
  }
  ended_ = std::move(cut_slices_[next_cut_++]);
  return &ended_->event;
}

}  // namespace profshim::trace_detail
