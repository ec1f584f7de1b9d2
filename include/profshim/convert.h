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

/// src/convert/perfetto/format.h describes the output.
ConvertResult convert_to_perfetto(const std::string& path, const std::string& out);

struct ParquetOptions {
  std::vector<std::string> paths;
  std::string out;     // a file; or a folder, ending in '/', with a file per input
  std::string python;  // an interpreter with pyarrow
};
/// src/convert/parquet/columns.h describes the columns.
ConvertResult convert_to_parquet(const ParquetOptions& options);

}  // namespace profshim
