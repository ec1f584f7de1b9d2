// The args of a trace event: what the numbers in an Event mean, by the definitions of its spool.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "profshim/spool/view.h"
#include "profshim/trace.h"

namespace profshim::kineto {

/// A communicator as the trace shows it.
struct Communicator {
  std::string_view name;
  std::int64_t device = -1;  // CUDA device of an NCCL communicator
  std::string ranks;         // "[0, 1]", shortened beyond 30 as Kineto does
  std::string_view all_ranks;
  std::string identity;  // 16 hex digits, equal on all members
  std::int64_t size = 0, own_rank = 0;
  spool::CommunicatorBackend backend = spool::CommunicatorBackend::kMpi;
};

/// A stretch of code of a file, where it was mapped.
struct Module {
  std::string_view path;
  std::uint64_t begin = 0, end = 0;
  std::uint64_t offset = 0;  // in the file, of `begin`
  std::uint64_t base = 0;    // where the file begins
};

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
  struct Problem {
    std::string_view source, sentence;
  };
  const std::vector<Problem>& problems() const { return problems_; }
  struct Fact {
    std::string_view key, json;
  };
  const std::vector<Fact>& facts() const { return facts_; }
  bool has(spool::CommunicatorBackend backend) const {
    return std::any_of(communicators_.begin(), communicators_.end(),
                       [backend](const auto& entry) { return entry.second.backend == backend; });
  }
  bool has_fact(std::string_view key) const { return fact_of_key_.contains(key); }

 private:
  using Names = std::unordered_map<std::uint64_t, std::string_view>;
  static std::string_view find(const Names& names, std::uint64_t id) {
    const auto at = names.find(id);
    return at == names.end() ? std::string_view{} : at->second;
  }
  void add(const spool::View& view, const spool::Definition& definition);
  std::string_view text_of(const spool::View& view, StringId id, std::size_t longest = spool::kMaxName);
  void add_problem(const Problem& problem);
  void add_fact(std::string_view key, std::string_view json);
  std::map<std::uint32_t, Communicator> communicators_;
  Names datatypes_, reductions_, domains_, categories_, thread_names_, stream_names_;
  std::vector<Module> modules_;
  std::vector<Problem> problems_;
  std::set<std::pair<std::string_view, std::string_view>> problems_said_;
  std::vector<Fact> facts_;
  std::unordered_map<std::string_view, std::size_t> fact_of_key_;
  std::uint64_t room_;  // bytes of text that definitions may still bring
};

class CallStacks;

/// Room for the args of one event; the views in it live as long as the object and the spool.
class EventArgs {
 public:
  EventArgs(const Definitions& definitions, const spool::View& view, double ticks_per_ns, CallStacks& stacks)
      : definitions_(definitions),
        view_(view),
        ticks_per_ns_(ticks_per_ns),
        shows_inputs_(definitions.has_fact("record_shapes")),
        shows_flops_(definitions.has_fact("with_flops")),
        stacks_(stacks) {}
  /// `second`: the kContinuation of `event`, or null.
  std::span<const Arg> of(const Event& event, const Event* second);

 private:
  void add(std::string_view key, decltype(Arg::value) value) {
    if (used_ < args_.size()) args_[used_++] = {key, value};
  }
  void add_mpi(const Event& event, const Event* second);
  void add_communicator(const Communicator& c);
  void add_polls(const Event& event);
  void add_nccl(const Event& event);
  void add_torch(const TorchArgs& torch);
  void add_rpc(const Event& event);
  void add_flops(const Event& event);
  void add_json(std::string_view key, StringId id);
  void add_nvtx(const NvtxArgs& nvtx);
  void add_cuda_call(const Event& event);
  void add_extended(StringId id);
  void add_stack(StringId stack);
  const Definitions& definitions_;
  const spool::View& view_;
  double ticks_per_ns_;
  bool shows_inputs_, shows_flops_;
  CallStacks& stacks_;
  std::string stack_, native_stack_;
  std::array<Arg, 24> args_;
  std::size_t used_ = 0;
  std::map<std::tuple<StringId, StringId, StringId>, std::optional<std::uint64_t>> flops_;  // by name, dims, values
  std::unordered_map<StringId, bool> is_json_;  // texts that have been looked at
  char color_[12] = {}, stream_[20] = {};
};

/// How many calls a kMpiPolls stands for.
std::uint64_t polls_of(const PollArgs& polls);

/// The key under which the trace has MpiArgs::peer or NcclArgs::peer: "root", "dest", "source", "target", "peer".
std::string_view peer_key(HookId hook);

}  // namespace profshim::kineto
