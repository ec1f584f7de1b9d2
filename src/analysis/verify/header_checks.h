#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "findings.h"
#include "profshim/analysis.h"
#include "profshim/trace/metadata.h"

namespace profshim::analysis_detail {

/// Finds the rank in a trace's text as HTA does: the first match of  "rank":\s+(\d+)  in a line, anywhere in the JSON.
class RankText {
 public:
  void feed(std::string_view piece);
  /// -1 = none; HTA then takes rank 0.
  std::int64_t rank() const { return digits_ > 0 ? rank_ : -1; }

 private:
  void step(char c);
  std::size_t matched_ = 0;
  bool blank_ = false, done_ = false;
  int digits_ = 0;
  std::int64_t rank_ = 0;
};

/// Checklist items (checklist.cpp) about the members of a trace other than traceEvents.
class HeaderChecks {
 public:
  HeaderChecks(FileReport& report, Findings& findings) : report_(report), findings_(findings) {}

  void on_member(std::string_view key, std::string_view json, bool before_events);
  /// `rank_in_text`: the rank that HTA's text search finds; < 0 = none.
  void finish(std::int64_t rank_in_text);

 private:
  void behind(std::string_view key, std::string_view json);
  void devices(std::string_view json);
  void base_time();
  void distributed(std::string_view json, bool before_events);
  void rank(std::int64_t in_text);
  void ours();
  void add(const RecordingInfo& recording);

  FileReport& report_;
  Findings& findings_;
  TraceMetadata metadata_;
  std::string first_key_;
  bool schema_ = false, has_devices_ = false, unit_ms_ = false, distributed_ = false;
};

}  // namespace profshim::analysis_detail
