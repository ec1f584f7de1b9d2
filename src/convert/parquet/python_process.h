#pragma once

#include <sys/types.h>

#include <string>
#include <string_view>

#include "batch.h"

namespace profshim::convert_detail {

/// Writes Parquet with pyarrow in Python. Failures throw std::runtime_error.
class ParquetProcess {
 public:
  explicit ParquetProcess(const std::string& python);
  ~ParquetProcess();
  ParquetProcess(const ParquetProcess&) = delete;
  ParquetProcess& operator=(const ParquetProcess&) = delete;

  /// `name`: for error messages.
  void open(const std::string& path, const std::string& name);
  void write(const Batch& batch);
  void close();

 private:
  void send(std::string_view bytes);
  void send_sized(std::string_view bytes);
  void expect_ok();
  [[noreturn]] void fail(const std::string& why);

  std::string about_;
  pid_t child_ = -1;
  int to_ = -1, from_ = -1;
};

}  // namespace profshim::convert_detail
