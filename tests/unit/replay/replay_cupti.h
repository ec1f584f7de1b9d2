// A fake CUPTI with the record layouts of one release. Only one instance may exist.
#pragma once

#include <cstdint>
#include <deque>
#include <ostream>
#include <set>

#include "device/cupti/api.h"
#include "fakes/cupti/records.h"
#include "kineto_to_cupti.h"

namespace profshim::replay {

struct Generation {
  const char* name;
  std::uint32_t version;  // from cuptiGetVersion()
  fake::cupti::Sizes sizes;
};
inline constexpr Generation kGenerations[] = {
    {"cupti11_8", 18, fake::cupti::kSizes118},
    {"cupti12_4", 22, fake::cupti::kSizes124},
    {"cupti13_0", 130001, fake::cupti::kSizes130},
};

inline void PrintTo(const Generation& generation, std::ostream* out) { *out << generation.name; }

class ReplayCupti {
 public:
  struct Buffer {
    std::uint8_t* data = nullptr;
    std::size_t size = 0, filled = 0;
  };

  explicit ReplayCupti(const Generation& generation);
  ~ReplayCupti();
  ReplayCupti(const ReplayCupti&) = delete;
  ReplayCupti& operator=(const ReplayCupti&) = delete;
  device::CuptiApi api() const;

  Buffer request();
  /// Skips records of kinds that were never on. Returns false if the buffer is full.
  bool append(Buffer& buffer, const Record& record);
  std::size_t bytes_of(const Record& record) const { return record_bytes(record.kind, generation_.sizes); }
  /// Delivers the buffer at once, like a full buffer.
  void complete(const Buffer& buffer) { completed_(nullptr, 0, buffer.data, buffer.size, buffer.filled); }
  void complete_at_flush(const Buffer& buffer) { waiting_.push_back(buffer); }
  std::size_t enabled() const { return kinds_.size(); }

 private:
  static ReplayCupti* current_;
  const Generation generation_;
  device::BufferRequested requested_ = nullptr;
  device::BufferCompleted completed_ = nullptr;
  std::set<std::uint32_t> kinds_, were_on_;  // were_on_ keeps what was disabled
  std::deque<Buffer> waiting_;
};

}  // namespace profshim::replay
