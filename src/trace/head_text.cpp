#include "head_text.h"

#include "profshim/json.h"
#include "profshim/json/writer.h"
#include "schema.h"

namespace profshim {
namespace {

// A number or JSON text behind a blank, which HTA's search for the rank needs: see schema.h.
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
  const auto key = [](std::string_view name) { return json_string(name) + ": "; };
  std::string text = "{\n" + key(schema::top::kSchemaVersion) + "1,\n" + key(schema::top::kDeviceProperties) + '[';
  for (const std::string& device : header.devices) text += (text.back() == '[' ? "\n  " : ",\n  ") + device;
  text += "],\n";
  // An unknown rank is left out: HTA then takes 0, as it would for any number that is no rank.
  if (header.rank.rank >= 0) text += key(schema::top::kDistributedInfo) + distributed_info(header) + ",\n";
  text += key(schema::top::kHostName) + json_string(header.rank.host) + ",\n";
  for (const auto& [name, value] : header.members) text += key(name) + value + ",\n";
  text += key(schema::top::kProfshim) + '{';
  const char* separator = "";
  for (const auto& [name, value] : header.profshim) {
    text += separator + key(name) + value;
    separator = ",\n  ";
  }
  text += "},\n" + key(schema::top::kDisplayTimeUnit) + "\"ms\",\n";
  text += key(schema::top::kBaseTime) + std::to_string(header.base_time_ns) + ",\n";
  return text + key(schema::top::kTraceEvents) + "[\n";
}

}  // namespace profshim
