#include "key_averages.h"

#include <algorithm>

#include "analysis/model/one_job.h"
#include "analysis/model/time/active_time.h"
#include "file_rows.h"
#include "profshim/trace/completeness.h"

namespace profshim::analysis_detail {
namespace {

void add_device_use(const Timeline& timeline, DeviceUse& use) {
  std::map<std::int64_t, ActiveTime> devices = device_activity(timeline);
  for (auto& [device, time] : devices) {
    time.merge();
    use.any = true;
    use.busy_us += covered(time.busy) / 1000;
    use.communication_us += covered(time.communication) / 1000;
    use.exposed_us += time.exposed_communication_ns() / 1000;
  }
}

}  // namespace

DeviceUse& KeyAverages::device_use(int node_id) {
  for (DeviceUse& use : table_.devices) {
    if (use.node_id == node_id) return use;
  }
  return table_.devices.emplace_back(DeviceUse{.node_id = node_id});
}

void KeyAverages::add(const Timeline& timeline, int node_id) {
  add_file_rows(rows_, timeline, node_id, files_++, group_by_shapes_);
  add_device_use(timeline, device_use(node_id));
  table_.memory = table_.memory || timeline.profile_memory || !timeline.memory.empty();
  table_.dropped_events += timeline.dropped;
  table_.drops_known = table_.drops_known && timeline.dialect == Dialect::kProfshim;
  table_.incomplete_files += timeline.complete ? 0 : 1;
  if (!timeline.complete && table_.first_missing.empty()) table_.first_missing = missing_text(timeline.missing);
  table_.truncated = table_.truncated || timeline.truncated;
  table_.warnings.insert(table_.warnings.end(), timeline.warnings.begin(), timeline.warnings.end());
}

KeyTable KeyAverages::finish() {
  table_.rows = rows_.finish();
  table_.nodes = nodes_.finish();
  if (!table_.nodes.empty()) {
    for (KeyRow& row : table_.rows) row.node_id = table_.nodes[static_cast<std::size_t>(row.node_id)].id;
    for (DeviceUse& use : table_.devices) use.node_id = table_.nodes[static_cast<std::size_t>(use.node_id)].id;
    std::sort(table_.nodes.begin(), table_.nodes.end(), [](const KeyNode& a, const KeyNode& b) { return a.id < b.id; });
  }
  std::sort(table_.devices.begin(), table_.devices.end(),
            [](const DeviceUse& a, const DeviceUse& b) { return a.node_id < b.node_id; });
  return std::move(table_);
}

}  // namespace profshim::analysis_detail

namespace profshim {

KeyTable key_averages(const std::vector<std::string>& paths, const KeyChoice& choice) {
  using namespace analysis_detail;
  KeyAverages averages(choice.by_shapes);
  OneJob job;
  for (const std::string& path : paths) {
    const std::vector<Timeline> timelines = load_timelines(path, {.input_dims = choice.by_shapes});
    for (const Timeline& timeline : timelines) {
      if (!choice.several_runs) job.add(timeline);
      const bool is_alone = paths.size() == 1 && timelines.size() == 1;
      if (choice.grouping == KeyGrouping::kNode) {
        averages.add_by_node(timeline);
      } else {
        averages.add(timeline, is_alone || choice.grouping == KeyGrouping::kAll ? -1 : timeline.rank);
      }
    }
  }
  return averages.finish();
}

}  // namespace profshim
