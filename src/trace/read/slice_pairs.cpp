#include "slice_pairs.h"

#include <algorithm>
#include <string_view>

#include "profshim/base/key_hash.h"
#include "trace/schema.h"

namespace profshim::trace_detail {
namespace {

constexpr std::uint64_t kMostOpen = 1'000'000;

std::uint64_t thread_of(const ReadEvent& event) {
  const std::uint64_t process = mixed(mixed(kKeyStart, event.pid), event.pid_text);
  return mixed(mixed(process, event.tid), event.tid_text);
}

bool fits(std::string_view begin, std::string_view end) { return end.empty() || begin == end; }

}  // namespace

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
  threads_[thread_of(event)].push_back(std::move(kept));
  ++open_;
  return true;
}

const ReadEvent* SlicePairs::end(const ReadEvent& event) {
  const auto thread = threads_.find(thread_of(event));
  if (thread == threads_.end()) return nullptr;
  auto& stack = thread->second;
  const auto found = std::find_if(stack.rbegin(), stack.rend(), [&](const auto& kept) {
    return fits(kept->event.name, event.name) && fits(kept->event.category, event.category);
  });
  if (found == stack.rend()) return nullptr;
  ended_ = std::move(*found);
  stack.erase(std::next(found).base());
  --open_;
  static constexpr char kSlice[] = {schema::phase::kSlice};
  ReadEvent& slice = ended_->event;
  slice.phase = {kSlice, 1};
  slice.has_duration = true;
  slice.duration_ns = event.ts_ns - slice.ts_ns;
  slice.duration_us = event.ts_us - slice.ts_us;
  slice.finer_than_ns = slice.finer_than_ns || event.finer_than_ns;
  slice.has_text_times = slice.has_text_times || event.has_text_times;
  // The views of the end's arguments live as long as the caller's event.
  ended_->args.insert(ended_->args.end(), event.args.begin(), event.args.end());
  slice.args = ended_->args;
  return &slice;
}

}  // namespace profshim::trace_detail
