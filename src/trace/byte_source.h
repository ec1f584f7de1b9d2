// Bytes of a trace file in order, whatever they lie in: a file, memory, gzip.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

namespace profshim::trace_detail {

class ByteSource {
 public:
  virtual ~ByteSource() = default;
  /// Up to `size` bytes; 0 at the end, and after a failure (then error() says which).
  virtual std::size_t read(char* data, std::size_t size) = 0;
  /// "" or one sentence.
  virtual std::string error() const = 0;
  /// The data end before they should.
  virtual bool truncated() const { return false; }
};

/// Null and errno when the file cannot be opened.
std::unique_ptr<ByteSource> file_source(const std::string& path);
std::unique_ptr<ByteSource> memory_source(std::string_view bytes);
/// `from` itself when it does not begin with gzip's magic bytes; else what it holds, over all members.
std::unique_ptr<ByteSource> maybe_gzip(std::unique_ptr<ByteSource> from);

}  // namespace profshim::trace_detail
