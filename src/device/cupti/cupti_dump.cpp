#include "cupti_dump.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <map>
#include <string_view>

#include "profshim/base/files.h"
#include "profshim/base/log.h"

namespace profshim::device {
namespace {

constexpr std::string_view kMagic = "profshim-cupti-1";
constexpr int kInvalidKind = 21;  // CUPTI_ERROR_INVALID_KIND

/// Returns 0 if the record has no name pointer.
std::size_t name_offset(std::uint32_t kind) {
  switch (kind) {
    case cupti::kKernelKind:
    case cupti::kConcurrentKernelKind:
      return offsetof(cupti::KernelRecord, name);
    case cupti::kDeviceKind:
      return offsetof(cupti::DeviceRecord, name);
    default:
      return 0;
  }
}

void put(std::string& out, std::uint32_t value) { out.append(reinterpret_cast<const char*>(&value), sizeof value); }

class Reader {
 public:
  explicit Reader(std::string_view text) : rest_(text) {}
  bool bytes(std::size_t size, std::string_view& out) {
    if (size > rest_.size()) return false;
    out = rest_.substr(0, size);
    rest_.remove_prefix(size);
    return true;
  }
  bool number(std::uint32_t& out) {
    std::string_view raw;
    if (!bytes(sizeof out, raw)) return false;
    std::memcpy(&out, raw.data(), sizeof out);
    return true;
  }
  bool at_end() const { return rest_.empty(); }

 private:
  std::string_view rest_;
};

/// First byte of a buffer -> offsets of its records.
std::map<const std::uint8_t*, const std::vector<std::uint32_t>*>& known_buffers() {
  static auto* const buffers = new std::map<const std::uint8_t*, const std::vector<std::uint32_t>*>;
  return *buffers;
}

}  // namespace

RecordingFile::RecordingFile(const std::string& folder, std::uint32_t version) {
  make_folders(folder);
  const std::string path = folder + "/cupti-" + std::to_string(getpid()) + ".bin";
  fd_ = open_high(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC);
  std::string head(kMagic);
  put(head, version);
  if (fd_ < 0 || write(fd_, head.data(), head.size()) != static_cast<ssize_t>(head.size())) {
    log::line(LogLevel::kWarn, "debug.cupti_dump: %s cannot be written", path.c_str());
    room_ = 0;
  }
}

RecordingFile::~RecordingFile() {
  if (fd_ >= 0) close(fd_);
}

void RecordingFile::append(const ActivityScope& scope, const BufferPool::Filled& buffer) {
  if (room_ == 0) return;
  std::string records, names;
  std::uint32_t count = 0, named = 0;
  cupti::Record* record = nullptr;
  while (scope.next_record(buffer.data, buffer.valid, &record) == cupti::kSuccess) {
    const auto at = static_cast<std::uint32_t>(reinterpret_cast<std::uint8_t*>(record) - buffer.data);
    put(records, at);
    ++count;
    const std::size_t offset = name_offset(record->kind);
    if (offset == 0 || at + offset + sizeof(char*) > buffer.valid) continue;
    const char* name = nullptr;
    std::memcpy(&name, buffer.data + at + offset, sizeof name);
    if (name == nullptr) continue;
    const std::size_t length = std::strlen(name);
    put(names, at + static_cast<std::uint32_t>(offset));
    put(names, static_cast<std::uint32_t>(length));
    names.append(name, length);
    ++named;
  }
  std::string out;
  put(out, count);
  put(out, static_cast<std::uint32_t>(buffer.valid));
  out += records;
  out.append(reinterpret_cast<const char*>(buffer.data), buffer.valid);
  put(out, named);
  out += names;
  const bool fits = out.size() <= room_;
  room_ = fits && write(fd_, out.data(), out.size()) == static_cast<ssize_t>(out.size()) ? room_ - out.size() : 0;
}

bool Recording::parse(const std::string& text) {
  Reader in(text);
  std::string_view magic;
  if (!in.bytes(kMagic.size(), magic) || magic != kMagic || !in.number(version_)) return false;
  while (!in.at_end()) {
    Buffer buffer;
    std::uint32_t count = 0, size = 0, named = 0;
    if (!in.number(count) || !in.number(size) || count > size) return false;
    for (std::uint32_t i = 0; i < count; ++i) {
      std::uint32_t at = 0;
      if (!in.number(at) || at + sizeof(cupti::Record) > size) return false;
      buffer.records.push_back(at);
    }
    std::string_view raw;
    if (!in.bytes(size, raw) || !in.number(named)) return false;
    buffer.bytes.assign(raw.begin(), raw.end());
    for (std::uint32_t i = 0; i < named; ++i) {
      std::uint32_t at = 0, length = 0;
      std::string_view name;
      if (!in.number(at) || !in.number(length) || !in.bytes(length, name) || at + sizeof(char*) > size) return false;
      buffer.names.push_back(std::make_unique<std::string>(name));
      const char* const pointer = buffer.names.back()->c_str();
      std::memcpy(buffer.bytes.data() + at, &pointer, sizeof pointer);
    }
    buffers_.push_back(std::move(buffer));
  }
  return true;
}

std::unique_ptr<Recording> Recording::read(const std::string& path) {
  std::string text;
  int error = 0;
  std::unique_ptr<Recording> recording(new Recording);
  if (!read_file(path, text, error) || !recording->parse(text)) return nullptr;
  for (const Buffer& buffer : recording->buffers_) known_buffers()[buffer.bytes.data()] = &buffer.records;
  return recording;
}

Recording::~Recording() {
  for (const Buffer& buffer : buffers_) known_buffers().erase(buffer.bytes.data());
}

std::vector<BufferPool::Filled> Recording::buffers() {
  std::vector<BufferPool::Filled> filled;
  for (Buffer& buffer : buffers_) filled.push_back({buffer.bytes.data(), buffer.bytes.size()});
  return filled;
}

int Recording::next_record(std::uint8_t* buffer, std::size_t, cupti::Record** record) {
  const auto at = known_buffers().find(buffer);
  if (at == known_buffers().end()) return kInvalidKind;
  const std::vector<std::uint32_t>& records = *at->second;
  auto next = records.begin();
  if (*record != nullptr) {
    const auto here = static_cast<std::uint32_t>(reinterpret_cast<std::uint8_t*>(*record) - buffer);
    next = std::upper_bound(records.begin(), records.end(), here);
  }
  if (next == records.end()) return cupti::kMaxLimitReached;
  *record = reinterpret_cast<cupti::Record*>(buffer + *next);
  return cupti::kSuccess;
}

}  // namespace profshim::device
