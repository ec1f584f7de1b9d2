// Raw CUPTI recordings: what CUPTI delivered on a real GPU, kept in a file and read again on a machine that has none
// (tests/recordings). A file holds, in the byte order of the machine,
//   "profshim-cupti-1", u32 version of CUPTI
//   and for each buffer  u32 number of records, u32 bytes, u32 offset of each record, the bytes,
//                        u32 number of names, and for each u32 offset of the pointer to it, u32 length, the text
// Names are texts that records point at.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "device/cupti/activity_scope.h"
#include "device/cupti/buffer_pool.h"

namespace profshim::device {

/// debug.cupti_dump: appends the buffers of this process to FOLDER/cupti-PID.bin. Device thread.
class RecordingFile {
 public:
  RecordingFile(const std::string& folder, std::uint32_t version);
  ~RecordingFile();
  RecordingFile(const RecordingFile&) = delete;
  RecordingFile& operator=(const RecordingFile&) = delete;
  /// Nothing more is written after 64 MiB, or after a write that failed.
  void append(const ActivityScope& scope, const BufferPool::Filled& buffer);

 private:
  int fd_ = -1;
  std::uint64_t room_ = 64ull << 20;
};

/// A recording in memory, for the tests.
class Recording {
 public:
  /// Null when the file is none, or is damaged.
  static std::unique_ptr<Recording> read(const std::string& path);
  std::uint32_t version() const { return version_; }
  std::vector<BufferPool::Filled> buffers();
  /// cuptiActivityGetNextRecord over the buffers of all recordings that are alive. Not for several threads.
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
