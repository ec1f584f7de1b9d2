#include "head_text.h"

#include "profshim/json/writer.h"
#include "profshim/trace/schema.h"

namespace profshim {
namespace {

// HTA needs the blank after the colon: see schema.h.
void spaced_member(JsonWriter& json, std::string_view key, std::string_view value) {
  json.key(key).raw(" " + std::string(value));
}

std::string distributed_info(const TraceHeader& header) {
  namespace distributed = schema::distributed;
  JsonWriter json(JsonWriter::Layout::kCompact);
  json.open_object().member(distributed::kBackend, header.backend);
  spaced_member(json, distributed::kRank, std::to_string(header.rank.rank));
  if (header.rank.world_size >= 0) spaced_member(json, distributed::kWorldSize, std::to_string(header.rank.world_size));
  spaced_member(json, distributed::kGroupCount, std::to_string(header.groups.size()));
  json.key(distributed::kGroups).open_list();
  for (const TraceHeader::Group& group : header.groups) {
    json.open_object();
    json.member(distributed::kGroupName, group.name).member(distributed::kGroupDescription, group.description);
    json.member(distributed::kGroupBackend, group.backend.empty() ? header.backend : group.backend);
    spaced_member(json, distributed::kGroupSize, std::to_string(group.size));
    spaced_member(json, distributed::kGroupRanks, group.ranks.empty() ? "[]" : group.ranks);
    json.close_object();
  }
  json.close_list();
  for (const auto& [key, value] : header.distributed) json.key(key).raw(value);
  return json.close_object().text();
}

}  // namespace

std::string head_text(const TraceHeader& header) {
  JsonWriter json;
  json.open_object().line(0).member(schema::top::kSchemaVersion, 1);
  json.line(0).key(schema::top::kDeviceProperties).open_list();
  for (const std::string& device : header.devices) json.line(2).raw(device);
  json.close_list();
  // For an unknown rank, HTA assumes 0 with or without distributedInfo.
  if (header.rank.rank >= 0) json.line(0).key(schema::top::kDistributedInfo).raw(distributed_info(header));
  json.line(0).member(schema::top::kHostName, header.rank.host);
  for (const auto& [name, value] : header.members) json.line(0).key(name).raw(value);
  json.line(0).key(schema::top::kProfshim).open_object();
  for (const auto& [name, value] : header.profshim) {
    if (&name != &header.profshim.front().first) json.line(2);
    json.key(name).raw(value);
  }
  json.close_object();
  json.line(0).member(schema::top::kDisplayTimeUnit, "ms");
  json.line(0).member(schema::top::kBaseTime, header.base_time_ns);
  return json.line(0).key(schema::top::kTraceEvents).open_list().text() + "\n";
}

}  // namespace profshim
