// The bytes of a trace in order, from a file, from memory or out of gzip.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

namespace profshim::trace_detail {

class ByteSource {
 public:
  virtual ~ByteSource() = default;
  /// Reads up to `size` bytes. Returns 0 at the end and after a failure; error() then tells them apart.
  virtual std::size_t read(char* data, std::size_t size) = 0;
  /// Returns one sentence; "" without a failure.
  virtual std::string error() const = 0;
  /// Returns true if the data end early.
  virtual bool truncated() const { return false; }
};

/// Returns null and sets errno if the file cannot be opened.
std::unique_ptr<ByteSource> file_source(const std::string& path);
std::unique_ptr<ByteSource> memory_source(std::string_view bytes);
/// Returns a source of the uncompressed bytes of all gzip members; `from` itself if it has no gzip magic bytes.
std::unique_ptr<ByteSource> maybe_gzip(std::unique_ptr<ByteSource> from);

}  // namespace profshim::trace_detail
