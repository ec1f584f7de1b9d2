// Joins torch.distributed collectives to their backend's ranges ("gloo:all_reduce").
#pragma once

#include <span>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "profshim/spool/view.h"

namespace profshim::kineto {

/// Drops PyTorch's record_param_comms around NCCL calls: the trace shows NCCL calls under that name. Takes one thread's
/// events, sorted.
void drop_doubled_comms(const spool::View& view, std::vector<const Event*>& events);

class TorchCollectives {
 public:
  explicit TorchCollectives(const spool::View& view) : view_(view) {}
  /// `events`: sorted by begin, longest first.
  void add_thread(std::int64_t tid, std::span<const Event* const> events);
  void finish();

  struct Collective {
    const Event* op;
    const Event* work = nullptr;  // the backend's range
    std::int64_t tid = 0;
    bool has_own_comms = false;  // contains NCCL calls or record_param_comms
  };
  const Collective* find(const Event& op) const;
  /// Returns "" if no range was found.
  std::string_view backend() const { return backend_; }

 private:
  enum class Kind : std::uint8_t { kOther, kCollective, kOwnComms, kWork };
  Kind kind_of(const Event& event);

  const spool::View& view_;
  std::unordered_map<std::uint64_t, Kind> kinds_;
  std::vector<Collective> all_;           // sorted by op once finish() ran
  std::vector<const Event*> async_work_;  // ranges that may end on another thread
  std::string_view backend_;
};

}  // namespace profshim::kineto
