// The interpreter that writes Parquet, in a process of its own.
#pragma once

#include <sys/types.h>

#include <string>
#include <string_view>

#include "batch.h"

namespace profshim::convert_detail {

/// Everything throws std::runtime_error with one line that says what went wrong.
class ParquetProcess {
 public:
  explicit ParquetProcess(const std::string& python);
  ~ParquetProcess();
  ParquetProcess(const ParquetProcess&) = delete;
  ParquetProcess& operator=(const ParquetProcess&) = delete;

  /// What goes wrong from then on is said of `name`.
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
