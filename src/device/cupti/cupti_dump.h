// Files of raw CUPTI buffers, for tests without a GPU (tests/recordings). Machine byte order:
//  "profshim-cupti-1", u32 CUPTI version
//  per buffer  u32 record count, u32 bytes, u32 offset of each record, the bytes,
//              u32 name count, per name u32 offset of its pointer, u32 length, text
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "activity_scope.h"
#include "buffer_pool.h"

namespace profshim::device {

/// Writes FOLDER/cupti-PID.bin.
class RecordingFile {
 public:
  RecordingFile(const std::string& folder, std::uint32_t version);
  ~RecordingFile();
  RecordingFile(const RecordingFile&) = delete;
  RecordingFile& operator=(const RecordingFile&) = delete;
  /// Stops after 64 MiB or a failed write.
  void append(const ActivityScope& scope, const BufferPool::Filled& buffer);

 private:
  int fd_ = -1;
  std::uint64_t room_ = 64ull << 20;
};

class Recording {
 public:
  static std::unique_ptr<Recording> read(const std::string& path);
  std::uint32_t version() const { return version_; }
  std::vector<BufferPool::Filled> buffers();
  /// Replaces cuptiActivityGetNextRecord.
  static int next_record(std::uint8_t* buffer, std::size_t valid, cupti::Record** record);
  ~Recording();

 private:
  Recording() = default;
  struct Buffer {
    std::vector<std::uint8_t> bytes;
    std::vector<std::uint32_t> records;
    std::vector<std::unique_ptr<std::string>> names;
  };
  bool parse(const std::string& text);
  std::uint32_t version_ = 0;
  std::vector<Buffer> buffers_;
};

}  // namespace profshim::device
