#include <array>
#include <charconv>
#include <fstream>
#include <stdexcept>

#include "profshim/analysis/compare.h"
#include "profshim/base/files.h"
#include "profshim/json/writer.h"
#include "profshim/trace/reader.h"

namespace profshim {
namespace {

constexpr std::string_view kVersionKey = "profshim_baseline";
constexpr int kVersionOfFile = 1;
constexpr std::size_t kMaxElements = 1 << 20;

using Value = ReadEvent::ReadArg;

constexpr std::array kLoads = {std::pair{std::string_view("cpus"), &MachineLoad::cpus},
                               std::pair{std::string_view("own"), &MachineLoad::own},
                               std::pair{std::string_view("others"), &MachineLoad::others},
                               std::pair{std::string_view("waited"), &MachineLoad::waited},
                               std::pair{std::string_view("stolen"), &MachineLoad::stolen}};

std::string number_text(double value) {
  char text[64];
  std::snprintf(text, sizeof text, "%.6g", value);
  return text;
}
double number_of(const Value& value) {
  return value.kind == Value::Kind::kInt ? static_cast<double>(value.integer) : value.number;
}

void write_load(JsonWriter& json, const MachineLoad& load) {
  json.open_object();
  for (const auto& [key, member] : kLoads) json.key(key).raw(number_text(load.*member));
  json.close_object();
}

void write_numbers(JsonWriter& json, std::string_view key, const std::vector<std::int64_t>& values) {
  JsonWriter list(JsonWriter::Layout::kCompact);
  list.open_list();
  for (const std::int64_t value : values) list.value(value);
  json.key(key).raw(list.close_list().text());
}

void write_steps(JsonWriter& json, const ProfileRank& rank) {
  JsonWriter list(JsonWriter::Layout::kCompact);
  list.open_list();
  for (const auto& [number, nth] : rank.steps) list.open_list().value(number).value(nth).close_list();
  json.key("steps").raw(list.close_list().text());
}

void write_rank(JsonWriter& json, const ProfileRank& rank) {
  json.open_object().member("rank", rank.rank);
  write_steps(json, rank);
  json.line(3);
  write_numbers(json, "step_ns", rank.step_ns);
  write_numbers(json, "communication_ns", rank.communication_ns);
  write_numbers(json, "launches", rank.launches);
  write_numbers(json, "mpi_bytes", rank.mpi_bytes);
  if (rank.cpus_used >= 0) json.key("cpus_used").raw(number_text(rank.cpus_used));
  json.line(3).key("rows").open_list();
  for (const auto& [key, row] : rank.rows) {
    json.line(4).open_object().member("kind", to_text(key.first)).member("name", key.second);
    json.member("other_threads", row.other_threads);
    write_numbers(json, "count", row.count);
    write_numbers(json, "time_ns", row.time_ns);
    json.close_object();
  }
  json.close_list().close_object();
}

class Reader {
 public:
  explicit Reader(std::vector<RunProfile>& runs) : runs_(runs) {}

  void leaf(std::string_view path, const Value& value) {
    parts_.clear();
    for (std::size_t at = 0; at <= path.size();) {
      const std::size_t dot = std::min(path.find('.', at), path.size());
      parts_.push_back(path.substr(at, dot - at));
      at = dot + 1;
    }
    ok_ = ok_ && (place(value) || value.kind == Value::Kind::kJson);  // kJson: an empty list or object
  }
  bool ok() const { return ok_ && version_ == kVersionOfFile; }

 private:
  bool place(const Value& value) {
    if (parts_[0] == kVersionKey) return version_ = static_cast<int>(value.integer), true;
    if (parts_[0] != "runs" || parts_.size() < 3) return false;
    RunProfile* const run = at(runs_, parts_[1]);
    if (run == nullptr) return false;
    const std::string_view key = parts_[2];
    if (key == "path") return run->path = value.text, true;
    if (key == "world_size") return run->world_size = static_cast<int>(value.integer), true;
    if (key == "has_steps") return run->has_steps = value.integer != 0, true;
    if (key == "machine" && parts_.size() == 4)
      return place(run->machine.emplace(run->machine.value_or(MachineLoad{})), value);
    if (key != "ranks" || parts_.size() < 5) return false;
    ProfileRank* const rank = at(run->ranks, parts_[3]);
    return rank != nullptr && place(*rank, value);
  }

  bool place(MachineLoad& load, const Value& value) {
    for (const auto& [key, member] : kLoads) {
      if (parts_[3] == key) return load.*member = number_of(value), load.*member >= 0;
    }
    return false;
  }

  bool place(ProfileRank& rank, const Value& value) {
    const std::string_view key = parts_[4];
    if (key == "rank") return rank.rank = static_cast<int>(value.integer), true;
    if (key == "steps" && parts_.size() == 7) {
      auto* const step = at(rank.steps, parts_[5]);
      if (step != nullptr) (parts_[6] == "0" ? step->first : step->second) = value.integer;
      return step != nullptr;
    }
    if (key == "step_ns") return number(rank.step_ns, 5, value);
    if (key == "communication_ns") return number(rank.communication_ns, 5, value);
    if (key == "launches") return number(rank.launches, 5, value);
    if (key == "cpus_used") return rank.cpus_used = number_of(value), rank.cpus_used >= 0;
    if (key == "mpi_bytes") return number(rank.mpi_bytes, 5, value);
    return key == "rows" && parts_.size() >= 7 && row(rank, value);
  }

  // Needs the order of write_rank(): kind, name, numbers.
  bool row(ProfileRank& rank, const Value& value) {
    const std::string_view key = parts_[6];
    if (key == "kind") {
      for (std::size_t i = 0; i < 5; ++i) {
        kind_ = static_cast<RowKind>(i);
        if (to_text(kind_) == value.text) return true;
      }
      return false;
    }
    if (key == "name") return row_ = &rank.rows[{kind_, std::string(value.text)}], true;
    if (row_ == nullptr) return false;
    if (key == "other_threads") return row_->other_threads = value.integer != 0, true;
    if (key == "count") return number(row_->count, 7, value);
    return key == "time_ns" && number(row_->time_ns, 7, value);
  }

  bool number(std::vector<std::int64_t>& list, std::size_t part, const Value& value) {
    std::int64_t* const to = parts_.size() == part + 1 ? at(list, parts_[part]) : nullptr;
    if (to == nullptr || value.kind != Value::Kind::kInt) return false;
    *to = value.integer;
    return true;
  }

  template <class T>
  static T* at(std::vector<T>& list, std::string_view index) {
    std::size_t i = 0;
    const auto [end, error] = std::from_chars(index.data(), index.data() + index.size(), i);
    if (error != std::errc() || end != index.data() + index.size() || i > list.size() || i > kMaxElements)
      return nullptr;
    if (i == list.size()) list.emplace_back();
    return &list[i];
  }

  std::vector<RunProfile>& runs_;
  std::vector<std::string_view> parts_;
  RowKind kind_{};
  ProfileRow* row_ = nullptr;
  int version_ = 0;
  bool ok_ = true;
};

bool fits(const ProfileRank& rank) {
  const std::size_t n = rank.steps.size();
  for (const auto* const list : {&rank.step_ns, &rank.communication_ns, &rank.launches, &rank.mpi_bytes}) {
    if (list->size() != n) return false;
  }
  for (const auto& [key, row] : rank.rows) {
    if (row.count.size() != n || row.time_ns.size() != n) return false;
  }
  return n > 0;
}

}  // namespace

bool is_baseline(const std::string& path) {
  const std::string expected = "{" + json_string(kVersionKey) + ":";
  std::ifstream file(path, std::ios::binary);
  std::string start;
  for (char c; start.size() < expected.size() && file.get(c);) {
    if (c != ' ' && c != '\n' && c != '\r' && c != '\t') start += c;
  }
  return start == expected;
}

std::string baseline_text(const std::vector<RunProfile>& runs) {
  JsonWriter json;
  json.open_object().member(kVersionKey, kVersionOfFile).key("runs").open_list();
  for (const RunProfile& run : runs) {
    json.line(1).open_object().member("path", run.path).member("world_size", run.world_size);
    json.member("has_steps", run.has_steps);
    if (run.machine) {
      json.key("machine");
      write_load(json, *run.machine);
    }
    json.key("ranks").open_list();
    for (const ProfileRank& rank : run.ranks) {
      json.line(2);
      write_rank(json, rank);
    }
    json.close_list().close_object();
  }
  return json.close_list().close_object().text() + "\n";
}

std::vector<RunProfile> read_baseline(const std::string& path) {
  std::string text;
  int error = 0;
  if (!read_file(path, text, error))
    throw std::runtime_error(path + ": " + std::string(std::generic_category().message(error)));
  const auto refuse = [&](const char* why) {
    throw std::runtime_error(path + ": " + why + "; make one with `profshim compare --update-baseline FILE RUN`");
  };
  if (!is_baseline(path)) refuse("is not a baseline");
  std::vector<RunProfile> runs;
  Reader reader(runs);
  const bool json = json_leaves(text, [&](std::string_view at, const Value& value) { reader.leaf(at, value); });
  bool whole = json && reader.ok() && !runs.empty();
  for (const RunProfile& run : runs) {
    whole = whole && !run.ranks.empty();
    for (const ProfileRank& rank : run.ranks) whole = whole && fits(rank);
  }
  if (!whole) refuse("is a damaged baseline, or of another version of the format");
  return runs;
}

}  // namespace profshim
