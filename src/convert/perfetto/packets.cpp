#include "packets.h"

#include <algorithm>
#include <charconv>
#include <protozero/pbf_writer.hpp>

namespace profshim::convert_detail {
namespace {

using Arg = ReadEvent::ReadArg;
using protozero::pbf_writer;

constexpr std::size_t kBufferBytes = 1 << 20;
constexpr std::size_t kLongestInterned = 256;
constexpr std::uint32_t kSequence = 1;

bool fits_32(std::int64_t number) { return number >= 0 && number <= INT32_MAX; }
bool has_pid(const PlannedProcess& process) { return process.id.is_number && fits_32(process.id.number); }
/// Perfetto takes thread 0 for the idle thread.
bool has_tid(const PlannedTrack& track, const PlannedProcess& process) {
  return has_pid(process) && track.thread.is_number && fits_32(track.thread.number) && track.thread.number > 0;
}

void stamp(pbf_writer& packet, std::int64_t at_ns, bool refers) {
  packet.add_uint64(field::packet::kTimestamp, static_cast<std::uint64_t>(std::max<std::int64_t>(at_ns, 0)));
  packet.add_uint32(field::packet::kSequenceId, kSequence);
  if (refers) packet.add_uint32(field::packet::kSequenceFlags, field::packet::kNeedsState);
}

template <class Fill>
void track_event(std::string& out, std::int64_t at_ns, bool refers, std::int32_t type, std::uint64_t track,
                 const Fill& fill) {
  pbf_writer trace(out);
  pbf_writer packet(trace, field::kTracePacket);
  stamp(packet, at_ns, refers);
  pbf_writer event(packet, field::packet::kTrackEvent);
  event.add_enum(field::event::kType, type);
  event.add_uint64(field::event::kTrack, track);
  fill(event);
}

void add_arrows(pbf_writer& event, std::span<const ArrowEnd> arrows, bool at_end) {
  for (const ArrowEnd& arrow : arrows) {
    if (arrow.at_end == at_end)
      event.add_fixed64(arrow.arrives ? field::event::kTerminatingFlows : field::event::kFlows, arrow.arrow);
  }
}

}  // namespace

void Packets::start(const Plan& plan) {
  std::string out;
  pbf_writer trace(out);
  {
    pbf_writer packet(trace, field::kTracePacket);
    packet.add_uint32(field::packet::kSequenceId, kSequence);
    packet.add_uint32(field::packet::kSequenceFlags, field::packet::kStateCleared);
  }
  if (plan.has_wall_clock) {
    const auto at = static_cast<std::uint64_t>(plan.base_ns() + plan.first_ns);
    pbf_writer packet(trace, field::kTracePacket);
    packet.add_uint64(field::packet::kTimestamp, at);
    packet.add_uint32(field::packet::kSequenceId, kSequence);
    pbf_writer snapshot(packet, field::packet::kClockSnapshot);
    for (const std::uint32_t id : {field::snapshot::kBoottime, field::snapshot::kRealtime}) {
      pbf_writer clock(snapshot, field::snapshot::kClocks);
      clock.add_uint32(field::snapshot::kClockId, id);
      clock.add_uint64(field::snapshot::kClockTimestamp, at);
    }
    snapshot.add_uint32(field::snapshot::kPrimaryClock, field::snapshot::kBoottime);
  }
  write(out);
  for (const PlannedProcess& process : plan.processes) describe_process(process);
  for (const PlannedTrack& track : plan.tracks) describe_track(track, plan.processes[track.process]);
}

void Packets::plain_track(std::uint64_t uuid, std::uint64_t parent, std::string_view name) {
  std::string out;
  {
    pbf_writer trace(out);
    pbf_writer packet(trace, field::kTracePacket);
    packet.add_uint32(field::packet::kSequenceId, kSequence);
    pbf_writer track(packet, field::packet::kTrackDescriptor);
    track.add_uint64(field::track::kUuid, uuid);
    if (parent != 0) track.add_uint64(field::track::kParent, parent);
    track.add_string(field::track::kName, name.data(), name.size());
  }
  write(out);
}

void Packets::describe_process(const PlannedProcess& process) {
  if (!has_pid(process)) {
    const std::string id = process.id.name();
    plain_track(process.uuid, 0, process.name.empty() ? id : process.name);
    return;
  }
  std::string out;
  {
    pbf_writer trace(out);
    pbf_writer packet(trace, field::kTracePacket);
    packet.add_uint32(field::packet::kSequenceId, kSequence);
    pbf_writer track(packet, field::packet::kTrackDescriptor);
    track.add_uint64(field::track::kUuid, process.uuid);
    pbf_writer what(track, field::track::kProcess);
    what.add_int32(field::track::kProcessPid, static_cast<std::int32_t>(process.id.number));
    if (process.sort_index && fits_32(*process.sort_index))
      what.add_int32(field::track::kProcessSortIndex, static_cast<std::int32_t>(*process.sort_index));
    if (!process.name.empty()) what.add_string(field::track::kProcessName, process.name);
    if (!process.labels.empty()) what.add_string(field::track::kProcessLabels, process.labels);
  }
  write(out);
}

void Packets::describe_track(const PlannedTrack& track, const PlannedProcess& process) {
  if (track.scope == Scope::kAsync) {
    for (const std::uint64_t uuid : track.subtracks) plain_track(uuid, process.uuid, track.name);
    return;
  }
  const bool is_thread = track.scope == Scope::kThread && has_tid(track, process);
  const std::string shown = track.name.empty() && track.scope == Scope::kThread ? track.thread.name() : track.name;
  if (track.scope == Scope::kThread && !is_thread) {
    plain_track(track.subtracks[0], process.uuid, shown);
  } else {
    std::string out;
    {
      pbf_writer trace(out);
      pbf_writer packet(trace, field::kTracePacket);
      packet.add_uint32(field::packet::kSequenceId, kSequence);
      pbf_writer descriptor(packet, field::packet::kTrackDescriptor);
      descriptor.add_uint64(field::track::kUuid, track.subtracks[0]);
      descriptor.add_uint64(field::track::kParent, process.uuid);
      if (is_thread) {
        pbf_writer what(descriptor, field::track::kThread);
        what.add_int32(field::track::kThreadPid, static_cast<std::int32_t>(process.id.number));
        what.add_int64(field::track::kThreadTid, track.thread.number);
        if (track.sort_index && fits_32(*track.sort_index))
          what.add_int32(field::track::kThreadSortIndex, static_cast<std::int32_t>(*track.sort_index));
        if (!track.name.empty()) what.add_string(field::track::kThreadName, track.name);
      } else {
        descriptor.add_string(field::track::kName, track.name);
        pbf_writer what(descriptor, field::track::kCounter);
      }
    }
    write(out);
  }
  for (std::size_t subtrack = 1; subtrack < track.subtracks.size(); ++subtrack)
    plain_track(track.subtracks[subtrack], track.subtracks[0], shown + " (overlapping)");
}

std::uint64_t Packets::iid(Table table, std::string_view text) {
  Texts& texts = texts_[table];
  if (const auto at = texts.find(text); at != texts.end()) return at->second;
  const std::uint64_t number = texts.size() + 1;
  texts.emplace(text, number);
  text_bytes_ += text.size() + 64;
  constexpr std::array<field::Number, kTables> kFields = {field::interned::kNames, field::interned::kCategories,
                                                          field::interned::kAnnotationNames, field::interned::kStrings};
  pbf_writer data(new_texts_);
  pbf_writer entry(data, kFields[table]);
  entry.add_uint64(field::interned::kIid, number);
  entry.add_bytes(field::interned::kText, text.data(), text.size());
  return number;
}

void Packets::write_new_texts() {
  if (new_texts_.empty()) return;
  std::string out;
  {
    pbf_writer trace(out);
    pbf_writer packet(trace, field::kTracePacket);
    packet.add_uint32(field::packet::kSequenceId, kSequence);
    packet.add_uint32(field::packet::kSequenceFlags, field::packet::kNeedsState);
    packet.add_message(field::packet::kInternedData, new_texts_);
  }
  new_texts_.clear();
  write(out);
}

void Packets::bound_memory() {
  if (text_bytes_ < most_text_bytes_) return;
  text_bytes_ = 0;
  for (Texts& texts : texts_) Texts().swap(texts);
  std::string out;
  {
    pbf_writer trace(out);
    pbf_writer packet(trace, field::kTracePacket);
    packet.add_uint32(field::packet::kSequenceId, kSequence);
    packet.add_uint32(field::packet::kSequenceFlags, field::packet::kStateCleared);
  }
  write(out);
}

void Packets::describe(Writer& event, std::string_view name, std::string_view category) {
  if (!category.empty()) event.add_uint64(field::event::kCategoryIids, iid(kCategories, category));
  if (!name.empty()) event.add_uint64(field::event::kNameIid, iid(kNames, name));
}

void Packets::annotate(Writer& event, std::span<const Arg> args) {
  for (const Arg& arg : args) {
    const std::uint64_t key = iid(kKeys, arg.key);
    pbf_writer annotation(event, field::event::kAnnotations);
    annotation.add_uint64(field::annotation::kNameIid, key);
    switch (arg.kind) {
      case Arg::Kind::kBool:
        annotation.add_bool(field::annotation::kBool, arg.integer != 0);
        break;
      case Arg::Kind::kInt:
        annotation.add_int64(field::annotation::kInt, arg.integer);
        break;
      case Arg::Kind::kDouble: {
        std::uint64_t large = 0;  // above INT64_MAX, for example PyTorch's "Comms Id"
        const auto [end, error] = std::from_chars(arg.text.data(), arg.text.data() + arg.text.size(), large);
        if (error == std::errc{} && end == arg.text.data() + arg.text.size()) {
          annotation.add_uint64(field::annotation::kUint, large);
        } else {
          annotation.add_double(field::annotation::kDouble, arg.number);
        }
        break;
      }
      case Arg::Kind::kString:
        if (arg.text.size() <= kLongestInterned) {
          annotation.add_uint64(field::annotation::kStringIid, iid(kStrings, arg.text));
        } else {
          annotation.add_string(field::annotation::kString, arg.text.data(), arg.text.size());
        }
        break;
      case Arg::Kind::kNull:
      case Arg::Kind::kJson:
        annotation.add_string(field::annotation::kJson, arg.text.data(), arg.text.size());
        break;
    }
  }
}

void Packets::begin(std::string& out, const ReadEvent& event, std::int64_t at_ns, std::uint64_t uuid,
                    std::span<const ArrowEnd> arrows) {
  track_event(out, at_ns, true, field::event::kBegin, uuid, [&](Writer& what) {
    describe(what, event.name, event.category);
    annotate(what, event.args);
    add_arrows(what, arrows, false);
  });
  write_new_texts();
}

void Packets::end(std::string& out, const ReadEvent* event, std::int64_t at_ns, std::uint64_t uuid,
                  std::span<const ArrowEnd> arrows) {
  track_event(out, at_ns, event != nullptr, field::event::kEnd, uuid, [&](Writer& what) {
    if (event != nullptr) annotate(what, event->args);
    add_arrows(what, arrows, true);
  });
  write_new_texts();
}

void Packets::instant(std::string& out, std::string_view name, std::string_view category, std::span<const Arg> args,
                      std::int64_t at_ns, std::uint64_t uuid) {
  track_event(out, at_ns, true, field::event::kInstant, uuid, [&](Writer& what) {
    describe(what, name, category);
    annotate(what, args);
  });
  write_new_texts();
}

void Packets::count(std::string& out, const Arg& value, std::int64_t at_ns, std::uint64_t uuid) {
  track_event(out, at_ns, false, field::event::kCounterType, uuid, [&](Writer& what) {
    if (value.kind == Arg::Kind::kInt) {
      what.add_int64(field::event::kCounter, value.integer);
    } else {
      what.add_double(field::event::kCounterDouble, value.number);
    }
  });
}

void Packets::write(std::string_view packets) {
  bytes_ += packets.size();
  buffer_ += packets;
  if (buffer_.size() < kBufferBytes) return;
  failed_ = failed_ || !sink_.write(buffer_.data(), buffer_.size());
  buffer_.clear();
}

bool Packets::finish() {
  failed_ = failed_ || (!buffer_.empty() && !sink_.write(buffer_.data(), buffer_.size()));
  buffer_.clear();
  return !failed_;
}

}  // namespace profshim::convert_detail
