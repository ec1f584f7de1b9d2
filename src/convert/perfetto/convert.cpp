#include "convert.h"

#include <algorithm>
#include <cstring>
#include <deque>
#include <memory>
#include <unordered_map>
#include <utility>

#include "convert/warnings.h"
#include "packets.h"
#include "profshim/base/text/message_text.h"
#include "profshim/trace/schema.h"
#include "track_plan.h"

namespace profshim {
namespace convert_detail {
namespace {

constexpr std::uint64_t kMetadataTrack = ~std::uint64_t{0}, kGlobalTrack = kMetadataTrack - 1;

class SecondPass {
 public:
  SecondPass(Plan& plan, Packets& out) : plan_(plan), out_(out) {}

  void start(const std::string& source, const ReadResult& read) {
    out_.start(plan_);
    out_.plain_track(kMetadataTrack, 0, "trace metadata");
    out_.plain_track(kGlobalTrack, 0, "global marks");
    std::vector<ReadEvent::ReadArg> args;
    for (const auto& [key, json] : plan_.members) args.push_back(member(key, json));
    const auto add = [&](std::string_view key, ReadEvent::ReadArg::Kind kind, std::int64_t value) {
      args.push_back({.key = key, .kind = kind, .integer = value});
    };
    args.push_back({.key = "converted from", .kind = ReadEvent::ReadArg::Kind::kString, .text = source});
    add("file ends early", ReadEvent::ReadArg::Kind::kBool, read.truncated);
    if (read.damaged > 0)
      add("damaged places", ReadEvent::ReadArg::Kind::kInt, static_cast<std::int64_t>(read.damaged));
    add("overlapping slices", ReadEvent::ReadArg::Kind::kInt, static_cast<std::int64_t>(plan_.on_overflow_tracks));
    add("arrow ends without counterpart", ReadEvent::ReadArg::Kind::kInt,
        static_cast<std::int64_t>(plan_.unmatched_arrow_ends));
    if (plan_.shift_ns > 0) add("times shifted by ns", ReadEvent::ReadArg::Kind::kInt, plan_.shift_ns);
    out_.instant(packets_, "trace metadata", "metadata", args, plan_.start_ns() + plan_.first_ns, kMetadataTrack);
    flush();
  }

  void event(const ReadEvent& event) {
    if (!plan_.is_shown(event)) return;
    const std::int64_t at = plan_.time_of(event);
    switch (event.letter()) {
      case schema::phase::kSlice:
        slice(event, at);
        break;
      case schema::phase::kAsyncBegin:
        pairs_.begin(event, next_slice_);
        slice(event, at);
        break;
      case schema::phase::kAsyncEnd:
        if (const auto begun = pairs_.end(event)) {
          const Plan::Placed placed = plan_.placed(*begun);
          out_.end(packets_, &event, placed.end_ns, placed.uuid, arrows_of(*begun));
        }
        break;
      case schema::phase::kInstant:
      case schema::phase::kOldInstant:
      case schema::phase::kAsyncInstant:
        out_.instant(packets_, event.name, event.category, event.args, at, track_of_mark(event));
        break;
      case schema::phase::kCounter:
        for (const auto& arg : event.args) {
          if (arg.kind == ReadEvent::ReadArg::Kind::kInt || arg.kind == ReadEvent::ReadArg::Kind::kDouble)
            out_.count(packets_, arg, at, plan_.tracks[plan_.track_of(event, Scope::kCounter, arg.key)].subtracks[0]);
        }
        break;
      default:
        break;
    }
    flush();
    if (waiting_.empty()) out_.bound_memory();
  }

 private:
  /// Removes the quotes of a text. Perfetto parses all other values as JSON.
  ReadEvent::ReadArg member(const std::string& key, const std::string& json) {
    ReadEvent::ReadArg arg{.key = key, .kind = ReadEvent::ReadArg::Kind::kJson, .text = json};
    if (!json.starts_with('"')) return arg;
    json_leaves(json, [&](std::string_view, const ReadEvent::ReadArg& value) {
      arg.kind = value.kind;
      arg.text = texts_.emplace_back(value.text);
    });
    return arg;
  }

  std::uint64_t track_of_mark(const ReadEvent& event) {
    if (event.scope == schema::scope::kGlobal) return kGlobalTrack;
    if (event.scope == schema::scope::kProcess || event.is(schema::phase::kAsyncInstant))
      return plan_.processes[plan_.process_of(event)].uuid;
    return plan_.tracks[plan_.track_of(event, Scope::kThread)].subtracks[0];
  }

  std::span<const ArrowEnd> arrows_of(std::uint32_t slice) const {
    const auto first = plan_.arrows_of(slice);
    auto last = first;
    while (last != plan_.arrows.end() && last->slice == slice) ++last;
    return {first, last};
  }

  void slice(const ReadEvent& event, std::int64_t at) {
    const std::uint32_t number = next_slice_++;
    const Plan::Placed placed = plan_.placed(number);
    const std::span<const ArrowEnd> arrows = arrows_of(number);
    out_.begin(packets_, event, at, placed.uuid, arrows);
    if (event.is(schema::phase::kSlice)) out_.end(packets_, nullptr, placed.end_ns, placed.uuid, arrows);
    const auto others = waiting_.find(number);
    if (placed.written_with == number && others == waiting_.end()) return;
    waiting_[placed.written_with].emplace_back(placed.order, std::exchange(packets_, {}));
    const auto all = waiting_.find(number);
    if (all == waiting_.end()) return;
    std::sort(all->second.begin(), all->second.end());
    for (const auto& [order, packets] : all->second) packets_ += packets;
    waiting_.erase(all);
  }

  void flush() {
    if (packets_.empty()) return;
    out_.write(packets_);
    packets_.clear();
  }

  Plan& plan_;
  Packets& out_;
  AsyncPairs pairs_;
  std::string packets_;
  std::uint32_t next_slice_ = 0;
  /// Key: slice. Value: packets to write with that slice, as (Placed::order, packets).
  std::unordered_map<std::uint32_t, std::vector<std::pair<std::uint32_t, std::string>>> waiting_;
  std::deque<std::string> texts_;
};

}  // namespace

bool write_perfetto(const std::string& name, const ReadTrace& read, ByteSink& sink, ConvertResult& result) {
  Plan plan;
  TraceVisitor first;
  first.metadata = [&](std::string_view key, std::string_view json, bool) { plan.metadata(key, json); };
  first.event = [&](const ReadEvent& event) {
    plan.event(event);
    return true;
  };
  const ReadResult whole = read(first);
  if (const std::string why = whole.useless(); !why.empty()) {
    result.error = name + ": " + why;
    return false;
  }
  plan.finish();

  Packets packets(sink);
  SecondPass second(plan, packets);
  second.start(name, whole);
  std::uint64_t seen = 0;
  TraceVisitor again;
  again.event = [&](const ReadEvent& event) {
    if (seen == plan.events) return false;
    ++seen;
    second.event(event);
    return !packets.failed();
  };
  read(again);
  if (seen < plan.events && !packets.failed()) {
    result.error = name + ": changed while it was read; convert it again";
    return false;
  }
  packets.finish();

  result.events = plan.events;
  result.bytes = packets.bytes();
  result.truncated = whole.is_partial();
  add_warnings(name, whole, result.warnings);
  const auto warn = [&](std::uint64_t count, const char* what) {
    if (count > 0) result.warnings.push_back(name + ": " + std::to_string(count) + what);
  };
  warn(plan.left_out, " events are left out: they have no valid time, process, duration or matching event");
  warn(plan.rounded, " events have times finer than a nanosecond, which are rounded");
  if (plan.shift_ns > 0) {
    result.warnings.push_back(name + ": its times begin below 0: all are shifted by " + std::to_string(plan.shift_ns) +
                              " ns");
  }
  warn(plan.negative, " slices of a negative duration are shown with duration 0");
  return true;
}

}  // namespace convert_detail

ConvertResult convert_to_perfetto(const std::string& path, const std::string& out) {
  ConvertResult result;
  AtomicFile file;
  if (!file.open(out)) {
    result.error = out + ": cannot be written: " + error_text(file.error());
    return result;
  }
  const std::unique_ptr<ByteSink> sink = file_sink(file);
  const auto read = [&](const TraceVisitor& visitor) { return read_trace(path, visitor); };
  if (!convert_detail::write_perfetto(path, read, *sink, result)) return result;
  if (!sink->close() || !file.publish(AtomicFile::Existing::kReplace))
    result.error = out + ": cannot be written: " + error_text(file.error());
  return result;
}

}  // namespace profshim
