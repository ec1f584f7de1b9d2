// Raw CUPTI recordings: files with the buffers that CUPTI delivered on a real GPU, which tests read again on a machine
// without one (tests/recordings). A file holds, in the byte order of the machine,
//   "profshim-cupti-1", u32 version of CUPTI
//   and for each buffer  u32 number of records, u32 bytes, u32 offset of each record, the bytes,
//                        u32 number of names, and for each u32 offset of the pointer to it, u32 length, the text
// Names are the texts that records point to.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "device/cupti/activity_scope.h"
#include "device/cupti/buffer_pool.h"

namespace profshim::device {

/// Appends the buffers of this process to FOLDER/cupti-PID.bin (debug.cupti_dump). Device thread.
class RecordingFile {
 public:
  RecordingFile(const std::string& folder, std::uint32_t version);
  ~RecordingFile();
  RecordingFile(const RecordingFile&) = delete;
  RecordingFile& operator=(const RecordingFile&) = delete;
  /// Writes nothing more after 64 MiB, or after a failed write.
  void append(const ActivityScope& scope, const BufferPool::Filled& buffer);

 private:
  int fd_ = -1;
  std::uint64_t room_ = 64ull << 20;
};

/// A recording in memory. Tests use this.
class Recording {
 public:
  /// Returns null if the file does not exist, is no recording, or is damaged.
  static std::unique_ptr<Recording> read(const std::string& path);
  std::uint32_t version() const { return version_; }
  std::vector<BufferPool::Filled> buffers();
  /// Acts as cuptiActivityGetNextRecord for the buffers of all living recordings. Not thread-safe.
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
