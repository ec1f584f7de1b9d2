// The JSON schema of a spec, made from the key table.
#include <string>
#include <vector>

#include "parts.h"
#include "profshim/json/writer.h"
#include "profshim/spec.h"
#include "spec/spec_keys.h"

namespace profshim {
namespace spec {
namespace {

std::string_view name_of(const KeyRow& row) {
  const std::string_view key = row.key;
  return key.substr(key.find('.') + 1);
}

void write_key(JsonWriter& json, const KeyRow& row) {
  json.key(name_of(row));
  if (row.key == "phase") return write_phase(json);
  if (row.key == "check.rule") return write_check_rule(json);
  std::string sentence(row.sentence);
  if (!row.short_forms.empty()) sentence += " (short: " + std::string(row.short_forms) + ")";
  json.open_object().member("description", sentence);
  // A default is a boolean, a number, a text or a list of texts: TOML and JSON write these alike.
  if (row.key != "version") json.key("default").raw(row.default_value);
  write_values(json, row.accepts, row.default_value == "\"\"");
  json.close_object();
}

void write_table(JsonWriter& json, std::string_view table) {
  json.member("type", "object").member("additionalProperties", false).key("properties").open_object();
  for (const KeyRow& row : key_rows()) {
    if (table_of(row.key) == table) write_key(json, row);
  }
}

std::vector<std::string_view> tables() {
  std::vector<std::string_view> names;
  for (const KeyRow& row : key_rows()) {
    const std::string_view table = table_of(row.key);
    if (!table.empty() && (names.empty() || names.back() != table)) names.push_back(table);
  }
  return names;
}

}  // namespace
}  // namespace spec

std::string spec_schema() {
  using namespace spec;
  JsonWriter json(JsonWriter::Layout::kIndented);
  json.open_object().member("$schema", "http://json-schema.org/draft-07/schema#");
  json.member("title", "profshim spec").list("required", std::vector{"version"});
  write_table(json, "");
  for (const std::string_view table : tables()) {
    json.key(table).open_object();
    write_table(json, table);
    json.close_object();
    if (table == "schedule") write_list_or_cycle(json);
    json.close_object();
  }
  return json.close_object().close_object().text();
}

}  // namespace profshim
