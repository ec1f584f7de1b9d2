// Converts finished traces to Perfetto's protobuf format and to Parquet. Tool only.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace profshim {

struct ConvertResult {
  std::string error;  // one line; "" = success
  std::vector<std::string> warnings;
  bool truncated = false;    // a file ends early; the part before is converted
  std::uint64_t events = 0;  // read
  std::uint64_t bytes = 0;   // written
};

/// See src/convert/perfetto/format.h. Reads the file twice instead of holding it: memory is about 40 bytes per slice,
/// 80 per arrow, and the distinct texts.
ConvertResult convert_to_perfetto(const std::string& path, const std::string& out);

struct ParquetOptions {
  std::vector<std::string> paths;
  std::string out;     // one file, or a folder, ending in '/', with one per input
  std::string python;  // with pyarrow
};
/// Columns: src/convert/parquet/columns.h. Memory is one row group, whatever the files.
ConvertResult convert_to_parquet(const ParquetOptions& options);

}  // namespace profshim
