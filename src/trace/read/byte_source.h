#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

namespace profshim::trace_detail {

class ByteSource {
 public:
  virtual ~ByteSource() = default;
  /// Returns 0 at the end or after a failure: see error().
  virtual std::size_t read(char* data, std::size_t size) = 0;
  virtual std::string error() const = 0;
  virtual bool truncated() const { return false; }
  /// Bytes of the file behind the last gzip member.
  virtual std::uint64_t ignored() const { return 0; }
};

std::unique_ptr<ByteSource> file_source(const std::string& path);
std::unique_ptr<ByteSource> memory_source(std::string_view bytes);
/// Uncompresses all gzip members; without gzip magic, bytes pass unchanged.
std::unique_ptr<ByteSource> maybe_gzip(std::unique_ptr<ByteSource> from);

}  // namespace profshim::trace_detail
