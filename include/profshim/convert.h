// Finished traces in the formats of others: Perfetto's own, and columns for engines that answer SQL. Tool only.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace profshim {

struct ConvertResult {
  std::string error;  // one line; "" = done
  std::vector<std::string> warnings;
  bool truncated = false;    // a file ends early: what stood before is converted
  std::uint64_t events = 0;  // read
  std::uint64_t bytes = 0;   // written
};

/// One trace as Perfetto's protobuf; what it becomes there is in src/convert/perfetto/format.h. Reads the file twice
/// and never holds it: memory is some 40 bytes a slice, 80 an arrow, and texts that differ.
ConvertResult convert_to_perfetto(const std::string& path, const std::string& out);

struct ColumnsOptions {
  std::vector<std::string> paths;
  std::string out;     // one file for all, or a folder that ends in '/': one below it for each input
  std::string python;  // the interpreter that has pyarrow
};
/// Any number of traces as Parquet; the columns are in src/convert/parquet/schema.h. Memory is one row group, whatever
/// the number and the size of the files.
ConvertResult convert_to_parquet(const ColumnsOptions& options);

}  // namespace profshim
