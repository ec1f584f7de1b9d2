// A stream runs launches in order: a launch older than the newest finished launch of every stream has ended, even if
// its record is missing.
#pragma once

#include <cstdint>
#include <unordered_map>

namespace profshim::device {

class StreamProgress {
 public:
  /// `dumped`: CUPTI also reports streams older than the recording.
  void set_streams_are_dumped(bool dumped) {
    dumped_ = dumped;
    dump_arrived_ = false;
  }
  void add(std::uint64_t stream);
  void add_from_record(std::uint64_t stream) {
    dump_arrived_ = true;
    add(stream);
  }
  void on_finished(std::uint64_t stream, std::uint32_t correlation);
  /// Sets `correlation`: launches with earlier ids have ended. Returns false if no such id is known.
  bool passed_by_all(std::uint32_t& correlation) const;
  void clear();

 private:
  struct Stream {
    std::uint32_t finished = 0;  // correlation id; valid if `any`
    bool any = false;
  };
  static constexpr std::size_t kMostStreams = 4096;
  std::unordered_map<std::uint64_t, Stream> streams_;
  bool dumped_ = false, dump_arrived_ = false, too_many_ = false;
  std::uint64_t last_number_ = 0;  // consecutive records often share a stream
  Stream* last_ = nullptr;
};

}  // namespace profshim::device
