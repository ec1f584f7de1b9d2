// StreamProgress: up to which launch all streams have come. A stream runs in order, so a launch that every stream has
// passed has ended, even if its record is missing. Device thread.
#pragma once

#include <cstdint>
#include <unordered_map>

namespace profshim::device {

class StreamProgress {
 public:
  /// `dumped`: CUPTI writes a record of every stream, also of streams older than the recording. Otherwise the progress
  /// of the known streams tells nothing, since a launch may be on another one.
  void set_streams_are_dumped(bool dumped) {
    dumped_ = dumped;
    dump_arrived_ = false;
  }
  /// A stream exists. `stream` is any number that no other stream has.
  void add(std::uint64_t stream);
  /// The same, from CUPTI's record of a stream.
  void add_from_record(std::uint64_t stream) {
    dump_arrived_ = true;
    add(stream);
  }
  /// All launches on this stream up to that correlation id have ended.
  void on_finished(std::uint64_t stream, std::uint32_t correlation);
  /// Sets `correlation` to the oldest of the newest finished launches of all streams: launches before it have ended.
  /// Returns false if that is not known.
  bool passed_by_all(std::uint32_t& correlation) const;
  void clear();

 private:
  struct Stream {
    std::uint32_t finished = 0;  // the newest correlation id that has ended; valid if any
    bool any = false;
  };
  static constexpr std::size_t kMostStreams = 4096;
  std::unordered_map<std::uint64_t, Stream> streams_;
  bool dumped_ = false, dump_arrived_ = false, too_many_ = false;
  std::uint64_t last_number_ = 0;  // of last_: many records in a row are of one stream
  Stream* last_ = nullptr;
};

}  // namespace profshim::device
