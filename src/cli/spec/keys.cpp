#include <cstdio>
#include <string>
#include <string_view>

#include "cli/arguments.h"
#include "cli/command.h"
#include "profshim/json/writer.h"
#include "spec_options.h"

namespace profshim::cli {
namespace {

struct KeysOptions {
  bool markdown = false, json = false, toml = false, schema = false;
};

std::string_view table_of(std::string_view key) {
  const std::size_t dot = key.find('.');
  return dot == std::string_view::npos ? std::string_view{} : key.substr(0, dot);
}

void print_text() {
  for (const KeyInfo& key : spec_keys()) {
    std::printf("%-24s %-20s default %s\n    %s\n", std::string(key.name).c_str(), std::string(key.type).c_str(),
                std::string(key.default_value).c_str(), std::string(key.sentence).c_str());
    std::printf("    values: %s%s%s\n", std::string(key.values).c_str(),
                key.short_forms.empty() ? "" : "; short: ", std::string(key.short_forms).c_str());
  }
}

std::string cell(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '|') out += '\\';
    out += c;
  }
  return out;
}

void print_markdown() {
  std::puts("| key | type | values | default | short | meaning |\n|---|---|---|---|---|---|");
  for (const KeyInfo& key : spec_keys()) {
    std::printf("| `%s` | %s | %s | `%s` | %s | %s |\n", cell(key.name).c_str(), cell(key.type).c_str(),
                cell(key.values).c_str(), cell(key.default_value).c_str(), cell(key.short_forms).c_str(),
                cell(key.sentence).c_str());
  }
}

void print_json() {
  JsonWriter json;
  json.open_list();
  for (const KeyInfo& key : spec_keys()) {
    json.line(1).open_object().member("key", key.name).member("type", key.type).member("values", key.values);
    json.member("default", key.default_value).member("short", key.short_forms).member("sentence", key.sentence);
    json.close_object();
  }
  std::puts(json.line(0).close_list().text().c_str());
}

void print_toml() {
  std::puts("# Every key with its default. Made by `profshim keys --toml`.");
  std::string_view table;
  for (const KeyInfo& key : spec_keys()) {
    if (table_of(key.name) != table) {
      table = table_of(key.name);
      std::printf("\n[%s]\n", std::string(table).c_str());
    }
    const std::string_view name = table.empty() ? key.name : key.name.substr(table.size() + 1);
    const std::string line = std::string(name) + " = " + std::string(key.default_value);
    const bool any = key.values == "any" || key.type == "boolean";
    std::printf("%-44s # %s%s%s%s\n", line.c_str(), std::string(key.sentence).c_str(), any ? "" : " [",
                any ? "" : std::string(key.values).c_str(), any ? "" : "]");
  }
}

int keys(int argc, char** argv) {
  KeysOptions options;
  Arguments arguments("keys", "Prints every key of a spec with its type, values, default and short forms.");
  arguments.add("--markdown", options.markdown, "Print a Markdown table");
  arguments.add("--json", options.json, "Print JSON");
  arguments.add("--toml", options.toml, "Print a spec with every key at its default (config/reference.toml)");
  arguments.add("--schema", options.schema, "Print a JSON schema of a spec, for editors (config/profshim.schema.json)");
  arguments.exclusive({"--markdown", "--json", "--toml", "--schema"});
  arguments.footer("Example:\n  profshim keys --toml > run.toml\n\n" + std::string(kExitStatus));
  int status = kSuccess;
  if (!arguments.parse(argc, argv, status)) return status;

  if (options.markdown) {
    print_markdown();
  } else if (options.json) {
    print_json();
  } else if (options.toml) {
    print_toml();
  } else if (options.schema) {
    std::puts(spec_schema().c_str());
  } else {
    print_text();
  }
  return kSuccess;
}

}  // namespace

extern const Command kKeys;
const Command kKeys = {"keys", "list every key of a spec", keys};

}  // namespace profshim::cli
