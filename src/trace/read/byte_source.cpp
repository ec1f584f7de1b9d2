#include "byte_source.h"

#include <fcntl.h>
#include <unistd.h>
#include <zlib.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <vector>

#include "profshim/base/text/message_text.h"

namespace profshim::trace_detail {
namespace {

constexpr std::size_t kCompressedBytes = 128 * 1024;

class FileSource final : public ByteSource {
 public:
  explicit FileSource(int fd) : fd_(fd) {}
  ~FileSource() override { close(fd_); }
  std::size_t read(char* data, std::size_t size) override {
    ssize_t n;
    do {
      n = ::read(fd_, data, size);
    } while (n < 0 && errno == EINTR);
    if (n < 0) error_ = std::string("cannot read: ") + error_text(errno);
    return n > 0 ? static_cast<std::size_t>(n) : 0;
  }
  std::string error() const override { return error_; }

 private:
  const int fd_;
  std::string error_;
};

class MemorySource final : public ByteSource {
 public:
  explicit MemorySource(std::string_view bytes) : bytes_(bytes) {}
  std::size_t read(char* data, std::size_t size) override {
    const std::size_t part = std::min(size, bytes_.size());
    if (part > 0) std::memcpy(data, bytes_.data(), part);
    bytes_.remove_prefix(part);
    return part;
  }
  std::string error() const override { return {}; }

 private:
  std::string_view bytes_;
};

/// Returns `head` (bytes read to recognize gzip), then the rest.
class Rejoined final : public ByteSource {
 public:
  Rejoined(std::string head, std::unique_ptr<ByteSource> rest) : head_(std::move(head)), rest_(std::move(rest)) {}
  std::size_t read(char* data, std::size_t size) override {
    if (head_.empty()) return rest_->read(data, size);
    const std::size_t part = std::min(size, head_.size());
    std::memcpy(data, head_.data(), part);
    head_.erase(0, part);
    return part;
  }
  std::string error() const override { return rest_->error(); }
  bool truncated() const override { return rest_->truncated(); }
  std::uint64_t ignored() const override { return rest_->ignored(); }

 private:
  std::string head_;
  std::unique_ptr<ByteSource> rest_;
};

class GzipSource final : public ByteSource {
 public:
  explicit GzipSource(std::unique_ptr<ByteSource> from) : from_(std::move(from)), packed_(kCompressedBytes) {
    if (inflateInit2(&stream_, MAX_WBITS + 16) != Z_OK) error_ = "not enough host memory to uncompress the gzip data";
  }
  ~GzipSource() override { inflateEnd(&stream_); }

  std::size_t read(char* data, std::size_t size) override {
    stream_.next_out = reinterpret_cast<Bytef*>(data);
    stream_.avail_out = static_cast<uInt>(size);
    while (stream_.avail_out == size && error_.empty() && !ended_) step();
    return size - stream_.avail_out;
  }
  std::string error() const override { return error_; }
  bool truncated() const override { return truncated_; }
  std::uint64_t ignored() const override { return ignored_; }

 private:
  void step() {
    if (stream_.avail_in == 0 && !fill()) {
      if (!between_members_) fail("the gzip data end early", true);
      ended_ = true;
      return;
    }
    if (between_members_ && !begins_member()) return;
    const int result = inflate(&stream_, Z_NO_FLUSH);
    if (result == Z_STREAM_END) {
      between_members_ = true;
      magic_ = 0;
    } else if (result != Z_OK && result != Z_BUF_ERROR) {
      fail(std::string("broken gzip data: ") + (stream_.msg != nullptr ? stream_.msg : "unknown"), true);
    }
  }

  /// Takes bytes between members. Some tools append zeros, or a text. gzip ignores them, too.
  bool begins_member() {
    constexpr unsigned char kMagic[] = {0x1f, 0x8b};
    if (ignored_ > 0 || stream_.next_in[0] != kMagic[magic_]) {
      const bool zeros =
          std::all_of(stream_.next_in, stream_.next_in + stream_.avail_in, [](Bytef b) { return b == 0; });
      if (ignored_ > 0 || magic_ > 0 || !zeros) ignored_ += magic_ + stream_.avail_in;
      magic_ = 0;
      stream_.avail_in = 0;
      return false;
    }
    ++stream_.next_in;
    --stream_.avail_in;
    if (++magic_ < sizeof kMagic) return false;
    between_members_ = false;
    inflateReset(&stream_);
    give_magic(kMagic, sizeof kMagic);
    return true;
  }

  /// The two bytes may come from two blocks.
  void give_magic(const unsigned char* magic, unsigned size) {
    Bytef* const next = stream_.next_in;
    const uInt available = stream_.avail_in;
    stream_.next_in = const_cast<Bytef*>(magic);
    stream_.avail_in = size;
    inflate(&stream_, Z_NO_FLUSH);
    stream_.next_in = next;
    stream_.avail_in = available;
  }

  bool fill() {
    const std::size_t n = from_->read(packed_.data(), packed_.size());
    stream_.next_in = reinterpret_cast<Bytef*>(packed_.data());
    stream_.avail_in = static_cast<uInt>(n);
    if (n == 0 && !from_->error().empty()) fail(from_->error(), false);
    return n > 0;
  }

  void fail(std::string what, bool truncated) {
    if (!error_.empty()) return;
    error_ = std::move(what);
    truncated_ = truncated;
  }

  std::unique_ptr<ByteSource> from_;
  std::vector<char> packed_;
  z_stream stream_{};
  bool between_members_ = false, ended_ = false, truncated_ = false;
  unsigned magic_ = 0;         // bytes of the next member's magic number that are read
  std::uint64_t ignored_ = 0;  // compressed bytes behind the last member
  std::string error_;
};

}  // namespace

std::unique_ptr<ByteSource> file_source(const std::string& path) {
  const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  return fd < 0 ? nullptr : std::make_unique<FileSource>(fd);
}

std::unique_ptr<ByteSource> memory_source(std::string_view bytes) { return std::make_unique<MemorySource>(bytes); }

std::unique_ptr<ByteSource> maybe_gzip(std::unique_ptr<ByteSource> from) {
  std::string head(2, '\0');
  std::size_t have = 0;
  while (have < head.size()) {
    const std::size_t n = from->read(head.data() + have, head.size() - have);
    if (n == 0) break;
    have += n;
  }
  head.resize(have);
  const bool gzip = head == "\x1f\x8b";
  auto whole = std::make_unique<Rejoined>(std::move(head), std::move(from));
  if (!gzip) return whole;
  return std::make_unique<GzipSource>(std::move(whole));
}

}  // namespace profshim::trace_detail
