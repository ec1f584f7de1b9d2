#include "profshim/convert.h"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <set>
#include <stdexcept>
#include <unordered_map>

#include "batch.h"
#include "file_info.h"
#include "profshim/base/files.h"
#include "profshim/base/text/message_text.h"
#include "profshim/trace/schema.h"
#include "python_process.h"

namespace profshim {
namespace convert_detail {
namespace {

using Arg = ReadEvent::ReadArg;

class Rows {
 public:
  Rows(const FileInfo& info, Batch& batch) : info_(info), batch_(batch) {
    for (std::size_t i = 0; i < kColumns; ++i) {
      for (const std::string_view argument : kColumnSpecs[i].arguments) {
        if (!argument.empty()) columns_.emplace(argument, static_cast<ColumnId>(i));
      }
    }
  }

  void metadata(const std::string& key, const std::string& json) {
    common();
    batch_.set(ColumnId::kPhase, "metadata");
    batch_.set(ColumnId::kName, key);
    batch_.set(ColumnId::kArgs, json);
    if (info_.ranks.size() == 1) set_rank(info_.ranks[0]);
    batch_.end_row();
  }

  void event(const ReadEvent& e) {
    common();
    const RankInfo* const rank = info_.rank_of(e);
    if (rank != nullptr) set_rank(*rank);
    if (e.pid_is_number) batch_.set(ColumnId::kPid, e.pid);
    if (e.tid_is_number) batch_.set(ColumnId::kTid, e.tid);
    if (e.has_pid && !e.pid_is_number) batch_.set(ColumnId::kPidText, e.pid_text);
    if (e.has_tid && !e.tid_is_number) batch_.set(ColumnId::kTidText, e.tid_text);
    batch_.set(ColumnId::kPhase, e.phase);
    if (!e.category.empty()) batch_.set(ColumnId::kCategory, e.category);
    if (e.has_name) batch_.set(ColumnId::kName, e.name);
    if (e.has_ts) {
      batch_.set(ColumnId::kTraceTs, e.ts_ns);
      std::int64_t wall = 0;
      if (info_.has_wall_clock && !__builtin_add_overflow(info_.base_ns, e.ts_ns, &wall))
        batch_.set(ColumnId::kTs, wall);
      const auto step =
          rank != nullptr && !e.is(schema::phase::kMetadata) ? info_.step_at(*rank, e.ts_ns) : std::nullopt;
      if (step) batch_.set(ColumnId::kStep, *step);
    }
    if (e.has_duration) batch_.set(ColumnId::kDuration, e.duration_ns);
    if (e.has_id) batch_.set(ColumnId::kId, e.id);
    if (!e.scope.empty()) batch_.set(ColumnId::kScope, e.scope);
    arguments(e);
    batch_.end_row();
  }

 private:
  void common() {
    batch_.set(ColumnId::kFile, info_.path);
    if (info_.window) batch_.set(ColumnId::kWindow, *info_.window);
  }

  void set_rank(const RankInfo& rank) {
    if (rank.rank && *rank.rank >= 0 && *rank.rank <= INT32_MAX) batch_.set(ColumnId::kRank, *rank.rank);
    if (!rank.host.empty()) batch_.set(ColumnId::kHost, rank.host);
  }

  void arguments(const ReadEvent& e) {
    rest_.clear();
    std::uint64_t taken = 0;
    for (const Arg& arg : e.args) {
      const auto column = columns_.find(arg.key);
      if (column != columns_.end() && take(column->second, arg, taken)) continue;
      rest_ += rest_.empty() ? '{' : ',';
      (rest_ += key_text(arg.key)) += ':';
      if (arg.kind == Arg::Kind::kString) {
        rest_ += json_string(arg.text);
      } else {
        rest_ += arg.text;
      }
    }
    if (!rest_.empty()) batch_.set(ColumnId::kArgs, rest_ += '}');
  }

  /// Returns false if the type differs or the column is already set: the argument then goes to `args`.
  bool take(ColumnId id, const Arg& arg, std::uint64_t& taken) {
    const auto number = static_cast<std::size_t>(id);
    if (taken >> number & 1) return false;
    if (kColumnSpecs[number].type == ColumnType::kDictionary && arg.kind == Arg::Kind::kString) {
      batch_.set(id, arg.text);
    } else if (kColumnSpecs[number].type == ColumnType::kInt64 && arg.kind == Arg::Kind::kInt) {
      batch_.set(id, arg.integer);
    } else {
      return false;
    }
    taken |= std::uint64_t{1} << number;
    return true;
  }

  const std::string& key_text(std::string_view key) {
    constexpr std::size_t kMostKeys = 4096;
    const auto known = keys_.find(key);
    if (known != keys_.end()) return known->second;
    if (keys_.size() > kMostKeys) keys_.clear();
    return keys_.emplace(key, json_string(key)).first->second;
  }

  struct Hash {
    using is_transparent = void;
    std::size_t operator()(std::string_view text) const { return std::hash<std::string_view>{}(text); }
  };
  const FileInfo& info_;
  Batch& batch_;
  std::unordered_map<std::string_view, ColumnId> columns_;
  std::unordered_map<std::string, std::string, Hash, std::equal_to<>> keys_;
  std::string rest_;
};

constexpr std::string_view kRankFolder = "rank=";

/// Output files have temporary names until all are complete.
class Outputs {
 public:
  ~Outputs() {
    for (const auto& [temporary, name] : files_) {
      std::error_code none;
      std::filesystem::remove(temporary, none);
      const std::filesystem::path folder = std::filesystem::path(name).parent_path();
      if (folder.filename().string().starts_with(kRankFolder)) std::filesystem::remove(folder, none);
    }
  }
  const std::string& add(const std::string& name) {
    const std::filesystem::path path(name);
    const std::string temporary = (path.parent_path() / ("." + path.filename().string() + ".tmp")).string();
    return files_.emplace_back(temporary, name).first;
  }
  std::uint64_t publish() {
    std::uint64_t bytes = 0;
    for (const auto& [temporary, name] : files_) {
      bytes += std::filesystem::file_size(temporary);
      if (std::rename(temporary.c_str(), name.c_str()) != 0)
        throw std::runtime_error(name + ": cannot be written: " + error_text(errno));
    }
    files_.clear();
    return bytes;
  }

 private:
  std::vector<std::pair<std::string, std::string>> files_;
};

/// Makes names such as OUT/rank=3/rank3.11.parquet, and their folders.
class PartNames {
 public:
  explicit PartNames(std::string folder) : folder_(std::move(folder)) {}
  std::string name_for(const FileInfo& info) {
    if (info.ranks.size() > 1) {
      throw std::runtime_error(
          info.path +
          ": a merged trace has several ranks; convert the original traces, or write one file with -o NAME.parquet");
    }
    std::string name = std::filesystem::path(info.path).filename().string();
    for (const std::string_view ending : {".gz", ".json", ".trace", ".pt"}) {
      if (name.size() > ending.size() && name.ends_with(ending)) name.erase(name.size() - ending.size());
    }
    // Hive's name for a partition without a value.
    const auto& known = info.ranks[0].rank;
    const std::string rank = known ? std::to_string(*known) : "__HIVE_DEFAULT_PARTITION__";
    const std::string folder = folder_ + std::string(kRankFolder) + rank;
    if (const int error = make_folders(folder); error != 0)
      throw std::runtime_error("cannot create " + folder + ": " + error_text(error));
    std::string path = folder + "/" + name + ".parquet";
    for (int number = 2; !used_.insert(path).second; ++number)
      path = folder + "/" + name + "-" + std::to_string(number) + ".parquet";
    return path;
  }

 private:
  std::string folder_;
  std::set<std::string> used_;
};

void write_rows(const FileInfo& info, Batch& batch, ParquetProcess& out) {
  Rows rows(info, batch);
  const auto flush = [&] {
    if (!batch.is_full()) return;
    out.write(batch);
    batch.clear();
  };
  for (const auto& [key, json] : info.members) {
    rows.metadata(key, json);
    flush();
  }
  if (info.truncated) rows.metadata("file ends early", "true");
  if (info.damaged > 0) rows.metadata("damaged places", std::to_string(info.damaged));
  flush();
  std::uint64_t seen = 0;
  TraceVisitor visitor;
  visitor.event = [&](const ReadEvent& event) {
    if (seen == info.events) return false;
    ++seen;
    rows.event(event);
    flush();
    return true;
  };
  read_trace(info.path, visitor);
  if (seen < info.events) throw std::runtime_error(info.path + ": changed while it was read; convert it again");
}

void convert_all(const ParquetOptions& options, ConvertResult& result) {
  const bool into_folder = options.out.ends_with('/');
  Outputs outputs;  // declared before `out`: files are removed after the Python process has ended
  ParquetProcess out(options.python);
  PartNames names(options.out);
  Batch batch;
  const auto close = [&] {
    if (batch.rows() > 0) out.write(batch);
    batch.clear();
    out.close();
  };
  if (!into_folder) out.open(absolute_path(outputs.add(options.out)), options.out);
  for (const std::string& path : options.paths) {
    const FileInfo info = read_file_info(path);
    if (!info.error.empty()) throw std::runtime_error(path + ": " + info.error);
    result.truncated = result.truncated || info.truncated || info.damaged > 0;
    result.warnings.insert(result.warnings.end(), info.warnings.begin(), info.warnings.end());
    if (info.rounded > 0) {
      result.warnings.push_back(path + ": " + std::to_string(info.rounded) +
                                " events have times finer than a nanosecond, which are rounded");
    }
    if (into_folder) {
      const std::string name = names.name_for(info);
      out.open(absolute_path(outputs.add(name)), name);
    }
    write_rows(info, batch, out);
    if (into_folder) close();
    result.events += info.events;
  }
  if (!into_folder) close();
  result.bytes = outputs.publish();
}

}  // namespace
}  // namespace convert_detail

ConvertResult convert_to_parquet(const ParquetOptions& options) {
  ConvertResult result;
  try {
    convert_detail::convert_all(options, result);
  } catch (const std::exception& error) {
    result.error = error.what();
  }
  return result;
}

}  // namespace profshim
