// The collectives of torch.distributed in a window, each with the range in which its backend does the work.
#pragma once

#include <span>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "profshim/spool/view.h"

namespace profshim::kineto {

/// Drops each record_param_comms of PyTorch with NCCL calls inside it: the calls are shown under that name, and with
/// their args, which PyTorch does not pass on. Takes the events of one thread in order.
void drop_doubled_comms(const spool::View& view, std::vector<const Event*>& events);

class TorchCollectives {
 public:
  explicit TorchCollectives(const spool::View& view) : view_(view) {}
  /// Takes the events of one thread in order (begin, longest first).
  void add_thread(std::int64_t tid, std::span<const Event* const> events);
  /// Call it after the last thread.
  void finish();

  struct Collective {
    const Event* op;
    const Event* work = nullptr;  // range of the backend; null = not seen
    std::int64_t tid = 0;
    bool has_own_comms = false;  // it contains NCCL calls or PyTorch's own record_param_comms
  };
  /// Returns null if `op` is not a collective.
  const Collective* find(const Event& op) const;
  /// Returns the backend that the ranges name ("gloo"); "" = no range was seen.
  std::string_view backend() const { return backend_; }

 private:
  enum class Kind : std::uint8_t { kOther, kCollective, kOwnComms, kWork };
  Kind kind_of(const Event& event);

  const spool::View& view_;
  std::unordered_map<std::uint64_t, Kind> kinds_;  // by hook and name
  std::vector<Collective> all_;                    // by op, after finish()
  std::vector<const Event*> async_work_;           // may end on another thread; by thread and time of begin
  std::string_view backend_;
};

}  // namespace profshim::kineto
