#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <utility>

#include "profshim/analysis.h"
#include "unit/trace/sample_trace.h"

namespace profshim::test {

inline constexpr char kName[] = "step11/rank0.11.pt.trace.json";

inline std::string replaced(std::string text, const std::string& what, const std::string& by) {
  const std::size_t at = text.find(what);
  EXPECT_NE(at, std::string::npos) << what;
  return text.replace(at, what.size(), by);
}

inline FileReport verify_with(const std::string& what, const std::string& by) {
  return verify_trace_bytes(replaced(sample_trace(), what, by), kName);
}

inline FileReport verify_with_event(const std::string& event) {
  const std::string mark = "{\"ph\":\"i\",\"s\":\"g\",\"name\":\"Record Window End\"";
  return verify_with(mark, event + ",\n" + mark);
}

inline std::string slice(double ts, double dur, const std::string& more = "", const std::string& cat = "cpu_op") {
  return "{\"ph\":\"X\",\"cat\":\"" + cat + "\",\"name\":\"x\",\"pid\":4711,\"tid\":4711,\"ts\":" + std::to_string(ts) +
         ",\"dur\":" + std::to_string(dur) + more + "}";
}

inline bool finds(const FileReport& report, int item, bool must) {
  return std::any_of(report.findings.begin(), report.findings.end(),
                     [&](const Finding& f) { return f.item == item && f.must == must; });
}

inline std::string text_of(const FileReport& report) {
  std::string text;
  for (const Finding& f : report.findings) text += std::to_string(f.item) + ' ' + f.message + '\n';
  return text;
}

struct Broken {
  int item;
  bool must;
  const char* what;
  const char* by;
};

}  // namespace profshim::test
