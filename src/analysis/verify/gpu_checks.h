// Checklist items (checklist.cpp) about GPU rows and their launches.
#pragma once

#include <cstdint>
#include <vector>

#include "findings.h"

namespace profshim::analysis_detail {

bool is_gpu_work(std::string_view category);
bool is_api_call(std::string_view category);

class GpuChecks {
 public:
  explicit GpuChecks(Findings& findings) : findings_(findings) {}
  /// `merged`: the pid of GPU n is a multiple of 1000 plus n; tids may be renumbered.
  void on_event(const ReadEvent& event, bool merged);
  /// Checks links between rows, which come in any order.
  void finish();

 private:
  struct Row {
    std::int64_t link;  // correlation, External id, or id of a flow
    std::int64_t ts_ns;
    std::uint64_t track;
    std::uint64_t offset : 62, launches_graph : 1, records_event : 1;
  };
  struct Operation {
    std::int64_t link, begin_ns, end_ns;
    std::uint64_t track;
  };
  struct Collective {
    std::int64_t operation, correlation;
    std::uint64_t offset;
  };
  void on_flow(const ReadEvent& event);
  void on_gpu_work(const ReadEvent& event, bool merged);
  void on_kernel(const ReadEvent& event);
  void on_copy(const ReadEvent& event);
  void on_api_call(const ReadEvent& event);
  void on_sync(const ReadEvent& event);
  void on_host(const ReadEvent& event);
  void check_launches();
  void check_flows();
  void check_external_ids();
  void check_waits();
  void check_collectives();
  bool in_group_end_behind(const Operation& operation, const Row& call) const;

  Findings& findings_;
  std::vector<Row> gpu_, api_, flow_starts_, flow_ends_, ops_, kernel_ops_;
  std::vector<Row> waits_;
  std::vector<Operation> operations_;
  std::vector<Operation> group_ends_;  // `link` is unused
  std::vector<Collective> collectives_;
};

}  // namespace profshim::analysis_detail
