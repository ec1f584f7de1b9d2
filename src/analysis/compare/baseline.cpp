#include <algorithm>
#include <array>
#include <fstream>
#include <stdexcept>

#include "profshim/analysis/compare.h"
#include "profshim/base/files.h"
#include "profshim/base/text/number_text.h"
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

double number_of(const Value& value) {
  return value.kind == Value::Kind::kInt ? static_cast<double>(value.integer) : value.number;
}

void write_load(JsonWriter& json, const MachineLoad& load) {
  json.open_object();
  for (const auto& [key, member] : kLoads) json.key(key).raw(exact_text(load.*member));
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

constexpr std::array kSums = {std::pair{std::string_view("communication_ns"), &ProfileSums::communication_ns},
                              std::pair{std::string_view("launches"), &ProfileSums::launches},
                              std::pair{std::string_view("mpi_bytes"), &ProfileSums::mpi_bytes}};
constexpr std::array kOfPhase = {std::pair{std::string_view("occurrences"), &ProfilePhase::occurrences},
                                 std::pair{std::string_view("time_ns"), &ProfilePhase::time_ns}};
constexpr std::array kKnown = {std::pair{std::string_view("cpu_ns"), &ProfileRank::cpu_ns},
                               std::pair{std::string_view("waiting_ns"), &ProfileRank::waiting_ns},
                               std::pair{std::string_view("instructions"), &ProfileRank::instructions}};
constexpr std::size_t kStoredKinds = 5;

void write_sums(JsonWriter& json, const ProfileSums& sums, int depth) {
  for (const auto& [key, list] : kSums) write_numbers(json, key, sums.*list);
  json.line(depth).key("rows").open_list();
  for (const auto& [key, row] : sums.rows) {
    json.line(depth + 1).open_object().member("kind", to_text(key.first)).member("name", key.second);
    json.member("other_threads", row.other_threads);
    write_numbers(json, "count", row.count);
    write_numbers(json, "time_ns", row.time_ns);
    json.close_object();
  }
  json.close_list();
}

void write_rank(JsonWriter& json, const ProfileRank& rank) {
  json.open_object().member("rank", rank.rank);
  write_steps(json, rank);
  json.line(3);
  write_numbers(json, "step_ns", rank.step_ns);
  for (const auto& [key, list] : kKnown) {
    if (!(rank.*list).empty()) write_numbers(json, key, rank.*list);
  }
  if (rank.cpus_used >= 0) json.key("cpus_used").raw(exact_text(rank.cpus_used));
  write_sums(json, rank, 3);
  if (!rank.phases.empty()) {
    json.line(3).key("phases").open_list();
    for (const auto& [name, phase] : rank.phases) {
      json.line(4).open_object().member("name", name);
      for (const auto& [key, list] : kOfPhase) write_numbers(json, key, phase.*list);
      write_sums(json, phase, 5);
      json.close_object();
    }
    json.close_list();
  }
  json.close_object();
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
    if (key == "phase") return run->phase = value.text, true;
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
    for (const auto& [name, list] : kKnown) {
      if (key == name) return number(rank.*list, 5, value);
    }
    if (key == "cpus_used") return rank.cpus_used = number_of(value), rank.cpus_used >= 0;
    if (key == "phases" && parts_.size() >= 7) return phase(rank, value);
    return sums(rank, 4, value);
  }

  // Needs the order of write_rank(): the name first.
  bool phase(ProfileRank& rank, const Value& value) {
    const std::string_view key = parts_[6];
    if (key == "name") return phase_ = &rank.phases[std::string(value.text)], true;
    if (phase_ == nullptr) return false;
    for (const auto& [name, list] : kOfPhase) {
      if (key == name) return number(phase_->*list, 7, value);
    }
    return sums(*phase_, 6, value);
  }

  /// `part`: index of the key in the path.
  bool sums(ProfileSums& sums, std::size_t part, const Value& value) {
    const std::string_view key = parts_[part];
    for (const auto& [name, list] : kSums) {
      if (key == name) return number(sums.*list, part + 1, value);
    }
    return key == "rows" && parts_.size() >= part + 3 && row(sums, part + 2, value);
  }

  // Needs the order of write_sums(): kind, name, numbers.
  bool row(ProfileSums& sums, std::size_t part, const Value& value) {
    const std::string_view key = parts_[part];
    if (key == "kind") {
      for (std::size_t i = 0; i < kStoredKinds; ++i) {
        kind_ = static_cast<RowKind>(i);
        if (to_text(kind_) == value.text) return true;
      }
      return false;
    }
    if (key == "name") return row_ = &sums.rows[{kind_, std::string(value.text)}], true;
    if (row_ == nullptr) return false;
    if (key == "other_threads") return row_->other_threads = value.integer != 0, true;
    if (key == "count") return number(row_->count, part + 1, value);
    return key == "time_ns" && number(row_->time_ns, part + 1, value);
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
    if (!parse_number(index, i) || i > list.size() || i > kMaxElements) return nullptr;
    if (i == list.size()) list.emplace_back();
    return &list[i];
  }

  std::vector<RunProfile>& runs_;
  std::vector<std::string_view> parts_;
  ProfilePhase* phase_ = nullptr;
  RowKind kind_{};
  ProfileRow* row_ = nullptr;
  int version_ = 0;
  bool ok_ = true;
};

bool fits(const ProfileSums& sums, std::size_t n) {
  const bool have_size =
      std::all_of(kSums.begin(), kSums.end(), [&](const auto& list) { return (sums.*list.second).size() == n; });
  return have_size && std::all_of(sums.rows.begin(), sums.rows.end(), [n](const auto& row) {
           return row.second.count.size() == n && row.second.time_ns.size() == n;
         });
}

bool fits(const ProfileRank& rank) {
  const std::size_t n = rank.steps.size();
  const auto has_size = [&](const auto& list) {
    return (rank.*list.second).empty() || (rank.*list.second).size() == n;
  };
  return n > 0 && rank.step_ns.size() == n && std::all_of(kKnown.begin(), kKnown.end(), has_size) &&
         rank.waiting_ns.size() == rank.cpu_ns.size() && fits(rank, n) &&
         std::all_of(rank.phases.begin(), rank.phases.end(), [n](const auto& named) {
           const ProfilePhase& phase = named.second;
           return phase.occurrences.size() == n && phase.time_ns.size() == n && fits(phase, n);
         });
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
    if (!run.phase.empty()) json.member("phase", run.phase);
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
