// Checklist items (checklist.cpp) about the members of a trace other than traceEvents.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "findings.h"
#include "profshim/analysis.h"
#include "profshim/trace/metadata.h"

namespace profshim::analysis_detail {

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
