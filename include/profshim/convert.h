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
  bool truncated = false;    // a file ends early; the part before the end is converted
  std::uint64_t events = 0;  // events read
  std::uint64_t bytes = 0;   // bytes written
};

/// Converts one trace to Perfetto's protobuf format; src/convert/perfetto/format.h describes the result. Reads the file
/// twice instead of holding it: memory is about 40 bytes per slice, 80 per arrow, and the distinct texts.
ConvertResult convert_to_perfetto(const std::string& path, const std::string& out);

struct ParquetOptions {
  std::vector<std::string> paths;
  std::string out;     // one file for all inputs, or a folder, ending in '/', with one file per input
  std::string python;  // a Python interpreter with pyarrow
};
/// Converts any number of traces to Parquet; src/convert/parquet/schema.h describes the columns. Memory is one row
/// group, independent of the number and the size of the files.
ConvertResult convert_to_parquet(const ParquetOptions& options);

}  // namespace profshim
