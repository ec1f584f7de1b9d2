// A damaged spool that spool::View accepts must become a readable trace.
#pragma once

#include <array>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "fuzz/spool_image.h"
#include "profshim/trace/reader.h"
#include "profshim/trace/writer.h"
#include "profshim/window_trace.h"

namespace profshim::test {

/// The destructor undoes the changes. A change takes 12 bytes of input: region (1), place (2), width and kind (1),
/// value (8).
class Damage {
 public:
  Damage(SpoolImage& image, std::string_view input) : image_(image) {
    for (; input.size() >= kBytes && changed_.size() < kMost; input.remove_prefix(kBytes)) apply(input.data());
  }
  ~Damage() {
    for (auto at = changed_.rbegin(); at != changed_.rend(); ++at) std::memcpy(at->first, &at->second, 8);
  }
  Damage(const Damage&) = delete;
  Damage& operator=(const Damage&) = delete;

 private:
  static constexpr std::size_t kBytes = 12, kMost = 64;

  void apply(const char* change) {
    std::uint16_t place;
    std::memcpy(&place, change + 1, sizeof place);
    const auto kind = static_cast<std::uint8_t>(change[3]);
    std::uint64_t value;
    std::memcpy(&value, change + 4, sizeof value);
    if ((kind & 0x80) != 0) value = kEdges[value % std::size(kEdges)];
    const SpoolImage::Region& region = image_.region(static_cast<std::uint8_t>(change[0]));
    const std::size_t width = std::size_t{1} << (kind & 3);
    char* const at = image_.data() + region.at + place % region.bytes / width * width;
    std::uint64_t before;
    char* const word = at - reinterpret_cast<std::uintptr_t>(at) % 8;
    std::memcpy(&before, word, sizeof before);
    changed_.emplace_back(word, before);
    std::memcpy(at, &value, width);
  }

  static constexpr std::uint64_t kEdges[] = {
      0,
      1,
      ~0ull,
      1ull << 63,
      ~0ull >> 1,
      0x7fffffff,
      0x80000000,
      0xffffffff,
      0x10000,
      0x7ff8000000000000,
      0x7ff0000000000000,
      spool::kEventsPerChunk,
      spool::kMaxMarks,
      spool::kMaxWindows,
      1ull << 40,
      63,
  };
  SpoolImage& image_;
  std::vector<std::pair<char*, std::uint64_t>> changed_;
};

inline void trace_of_window(const spool::View& view, std::uint64_t number) {
  kineto::WindowTraceBuilder builder(view, number, {.trace_name = "/run/rank1.pt.trace.json", .recovered = true});
  builder.empty();
  std::string text;
  MemorySink sink(text);
  if (!builder.write(sink, {})) std::abort();
  std::string stacks;
  MemorySink stacks_sink(stacks);
  if (!builder.write_stacks(stacks_sink, StacksMetric::kAuto)) std::abort();
  TraceVisitor visitor;
  visitor.event = [](const ReadEvent& event) {
    if (event.ts_us < 0 || event.duration_us < 0) std::abort();
    return true;
  };
  const ReadResult read = read_trace_bytes(text, visitor);
  if (!read.ok || read.truncated || read.events != builder.summary().events) std::abort();
}

inline void fuzz_spool(std::string_view input) {
  static auto* const image = new SpoolImage;
  const Damage damage(*image, input);
  std::string why_not;
  const auto view = spool::View::in_memory(image->data(), image->size(), why_not);
  if (view == nullptr) {
    if (why_not.empty()) std::abort();
    return;
  }
  for (std::uint64_t number = 0; number < 3; ++number) trace_of_window(*view, number);
}

}  // namespace profshim::test
