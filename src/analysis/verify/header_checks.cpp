#include "header_checks.h"

#include <set>

#include "profshim/trace/schema.h"

namespace profshim::analysis_detail {
namespace {
constexpr std::string_view kKey = "\"rank\":";
constexpr int kMaxDigits = 9;
}  // namespace

void RankText::step(char c) {
  if (matched_ == kKey.size()) {
    if (c == ' ' || c == '\t') {
      blank_ = true;
      done_ = digits_ > 0;
      return;
    }
    if (blank_ && c >= '0' && c <= '9' && digits_ < kMaxDigits) {
      rank_ = rank_ * 10 + (c - '0');
      ++digits_;
      return;
    }
    done_ = digits_ > 0;
    matched_ = 0;
    blank_ = false;
  }
  // In valid JSON, the key can start again only at the quote that did not match.
  if (c == kKey[matched_]) {
    ++matched_;
  } else {
    matched_ = c == kKey[0] ? 1 : 0;
  }
}

void RankText::feed(std::string_view piece) {
  for (std::size_t i = 0; i < piece.size() && !done_; ++i) {
    if (matched_ == 0) {
      i = piece.find(kKey[0], i);
      if (i == std::string_view::npos) return;
    }
    step(piece[i]);
  }
}

namespace {

using Arg = ReadEvent::ReadArg;
using Kind = Arg::Kind;

}  // namespace

void HeaderChecks::on_member(std::string_view key, std::string_view json, bool before_events) {
  if (first_key_.empty()) first_key_ = before_events ? key : schema::top::kTraceEvents;
  if (!before_events) behind(key, json);
  metadata_.read(key, json);
  if (key == schema::top::kSchemaVersion) schema_ = json == "1";
  if (key == schema::top::kDisplayTimeUnit) unit_ms_ = json == "\"ms\"";
  if (key == schema::top::kDeviceProperties) devices(json);
  if (key == schema::top::kBaseTime) base_time();
  if (key == schema::top::kDistributedInfo) distributed(json, before_events);
  if (key == schema::top::kProfshim) ours();
}

void HeaderChecks::finish(std::int64_t rank_in_text) {
  if (first_key_ != schema::top::kSchemaVersion) findings_.must(1, "the first key is not schemaVersion", first_key_);
  if (!schema_) findings_.must(3, "schemaVersion is not 1");
  if (!has_devices_) findings_.must(3, "no deviceProperties: torch._inductor's reader stops");
  if (report_.base_time_ns <= 0) findings_.must(6, "no baseTimeNanoseconds");
  if (!unit_ms_) findings_.must(6, "displayTimeUnit is not \"ms\"");
  rank(rank_in_text);
}

void HeaderChecks::behind(std::string_view key, std::string_view json) {
  if (key != schema::top::kTraceName)
    findings_.should(7, "metadata behind traceEvents: HTA's parser does not see it", std::string(key));
  if (json.find(']') != std::string_view::npos || key.find(']') != std::string_view::npos) {
    findings_.should(7, "a ']' behind traceEvents: torch_tb_profiler inserts its counters there", std::string(key));
  }
}

void HeaderChecks::devices(std::string_view json) {
  has_devices_ = json.starts_with('[');
  constexpr std::string_view kKeys[] = {schema::device::kName,         schema::device::kTotalMemory,
                                        schema::device::kComputeMajor, schema::device::kComputeMinor,
                                        schema::device::kSmCount,      schema::device::kMaxThreadsPerSm,
                                        schema::device::kWarpSize};
  std::set<std::string> seen;
  std::int64_t count = 0;
  json_leaves(json, [&](std::string_view path, const Arg& value) {
    seen.emplace(path);
    if (path.substr(path.rfind('.') + 1) != schema::device::kId) return;
    if (value.integer != count) findings_.must(3, "deviceProperties: id is not the index", std::string(path));
    ++count;
  });
  for (std::int64_t i = 0; i < count; ++i) {
    for (const std::string_view key : kKeys) {
      const std::string path = std::to_string(i) + "." + std::string(key);
      if (!seen.contains(path)) findings_.must(3, "deviceProperties lacks a key", path);
    }
  }
}

void HeaderChecks::base_time() {
  report_.base_time_ns = metadata_.base_time_ns;
  if (report_.base_time_ns % schema::kBaseStepNs != 0)
    findings_.must(6, "baseTimeNanoseconds is no multiple of 7889238 s");
}

void HeaderChecks::distributed(std::string_view json, bool before_events) {
  distributed_ = true;
  if (!before_events) findings_.must(4, "distributedInfo stands behind traceEvents");
  report_.rank = metadata_.rank;
  report_.world_size = metadata_.world_size;
  const std::string groups = std::string(schema::distributed::kGroups) + '.',
                    ranks = '.' + std::string(schema::distributed::kGroupRanks);
  json_leaves(json, [&](std::string_view path, const Arg& value) {
    if (path.starts_with(groups) && path.find(ranks) != std::string_view::npos && value.kind != Kind::kInt &&
        value.text != "[]") {
      findings_.should(5, "pg_config: ranks is not a list of integers", std::string(path));
    }
    if (path == schema::distributed::kNcclVersion && value.kind != Kind::kString)
      findings_.should(5, "nccl_version is not a string");
  });
  if (report_.rank < 0) findings_.must(4, "distributedInfo has no rank");
  if (report_.world_size < 0) findings_.must(4, "distributedInfo has no world_size");
  if (metadata_.backend.empty()) findings_.must(4, "distributedInfo has no backend");
}

void HeaderChecks::rank(std::int64_t in_text) {
  if (!distributed_) {
    findings_.should(4, "no distributedInfo: HTA takes the file for rank 0");
  } else if (report_.rank >= 0 && in_text != report_.rank) {
    findings_.must(4, "HTA's search for \"rank\": and a number finds another rank than distributedInfo says",
                   in_text < 0 ? "none; a blank must follow the colon" : std::to_string(in_text));
  }
}

void HeaderChecks::ours() {
  const RecordingInfo& recording = *metadata_.recording;
  report_.ours = true;
  report_.spec_hash = recording.spec_hash;
  report_.window = recording.window;
  if (!recording.phase.empty()) report_.phase = recording.phase + " " + std::to_string(recording.occurrence);
  if (recording.first_tick > 0) report_.phase += ", tick " + std::to_string(recording.first_tick);
  report_.merged = !metadata_.merged.empty();
  add(*metadata_.recording);
  for (const MergedRankInfo& rank : metadata_.merged) {
    if (rank.recording) add(*rank.recording);
  }
}

void HeaderChecks::add(const RecordingInfo& recording) {
  report_.missing.insert(report_.missing.end(), recording.missing.begin(), recording.missing.end());
  report_.complete = report_.missing.empty();
  report_.truncated = report_.truncated || recording.truncated;
  report_.dropped += recording.dropped;
}

}  // namespace profshim::analysis_detail
