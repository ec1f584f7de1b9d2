#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "profshim/base/problem.h"
#include "profshim/spec.h"
#include "profshim/spool/view.h"

namespace profshim::kineto {

struct Communicator {
  std::string_view name;
  std::int64_t device = -1;  // GPU of an NCCL communicator
  std::string ranks;         // "[0, 1]", at most 30 ranks
  std::string_view all_ranks;
  std::string identity;  // 16 hex digits, equal on all ranks
  std::int64_t size = 0, own_rank = 0;
  spool::CommunicatorBackend backend = spool::CommunicatorBackend::kMpi;
};

struct Module {
  std::string_view path;
  std::uint64_t begin = 0, end = 0;
  std::uint64_t offset = 0;  // file offset of `begin`
  std::uint64_t base = 0;    // address of the file's first byte
};

/// A phase of the spec.
struct Phase {
  std::uint32_t id = 0;
  std::string_view name, pattern;
  PhaseSource source{};
  std::int64_t max_ns = 0;  // 0 = no limit
};

/// Returned texts live as long as the View.
class Definitions {
 public:
  explicit Definitions(const spool::View& view);
  const Communicator* communicator(std::uint32_t id) const;
  std::string_view datatype(std::uint32_t id) const { return find(datatypes_, id); }
  std::string_view reduction(std::uint32_t id) const { return find(reductions_, id); }
  std::string_view domain(std::uint32_t id) const { return find(domains_, id); }
  std::string_view category(std::uint32_t domain, std::uint32_t category) const;
  std::string_view thread_name(std::int64_t tid) const;
  std::string_view stream_name(std::uint32_t device, std::uint32_t stream) const;
  const std::map<std::uint32_t, Communicator>& communicators() const { return communicators_; }
  const std::vector<Module>& modules() const { return modules_; }
  /// Returns the spool::DetailBits that windows of a phase show; 0 = of steps.
  std::int64_t detail_of_windows(std::uint32_t phase) const;
  const std::vector<Phase>& phases() const { return phases_; }
  struct Problem {
    std::string_view source, sentence;
    bool is_loss = false;  // what the spec asks for is missing since then
    Ticks since = 0;
  };
  const std::vector<Problem>& problems() const { return problems_; }
  struct JsonMember {
    std::string_view key, json;
  };
  const std::vector<JsonMember>& json_members() const { return json_members_; }
  bool has_json_member(std::string_view key) const { return member_of_key_.contains(key); }
  bool has(spool::CommunicatorBackend backend) const {
    return std::any_of(communicators_.begin(), communicators_.end(),
                       [backend](const auto& entry) { return entry.second.backend == backend; });
  }

 private:
  using Names = std::unordered_map<std::uint64_t, std::string_view>;
  static std::string_view find(const Names& names, std::uint64_t id) {
    const auto at = names.find(id);
    return at == names.end() ? std::string_view{} : at->second;
  }
  void add(const spool::View& view, const spool::Definition& definition);
  void add_communicator(const spool::View& view, const spool::Definition& definition, std::string_view name);
  void add_phase(const spool::View& view, const spool::Definition& definition, std::string_view name);
  std::string_view text_of(const spool::View& view, StringId id, std::size_t longest = spool::kMaxName);
  void add_problem(const Problem& problem);
  void add_json_member(std::string_view key, std::string_view json);
  std::map<std::uint32_t, Communicator> communicators_;
  Names datatypes_, reductions_, domains_, categories_, thread_names_, stream_names_;
  std::vector<Module> modules_;
  std::vector<Phase> phases_;
  std::map<std::uint32_t, std::int64_t> details_;
  std::vector<Problem> problems_;
  std::set<std::pair<std::string_view, std::string_view>> known_problems_;
  std::vector<JsonMember> json_members_;
  std::unordered_map<std::string_view, std::size_t> member_of_key_;
  std::uint64_t room_;
};

}  // namespace profshim::kineto
