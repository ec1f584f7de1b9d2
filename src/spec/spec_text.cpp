#include <cstdint>
#include <cstdio>

#include "profshim/spec.h"
#include "spec_keys.h"

namespace profshim {

std::string Spec::to_toml() const {
  std::string out = "version = 1\n";
  std::string_view table;
  for (const spec::KeyRow& row : spec::key_rows()) {
    if (!row.print || (row.key == "phase" && phases.empty())) continue;
    // A file may have a list of steps or a cycle, not both.
    if (!schedule.steps.empty() && spec::is_cycle_key(row.key)) continue;
    if (spec::table_of(row.key) != table) {
      table = spec::table_of(row.key);
      out += "\n[" + std::string(table) + "]\n";
    }
    out += (table.empty() ? row.key : row.key.substr(table.size() + 1)) + " = " + row.print(*this) + "\n";
  }
  return out;
}

// Leaves out the role, in which processes of one job may differ.
std::string Spec::hash() const {
  Spec of_job = *this;
  of_job.process.role.clear();
  std::uint64_t hash = 14695981039346656037ull;  // FNV-1a
  for (const char c : of_job.to_toml()) hash = (hash ^ static_cast<unsigned char>(c)) * 1099511628211ull;
  char text[17];
  std::snprintf(text, sizeof text, "%016llx", static_cast<unsigned long long>(hash));
  return text;
}

}  // namespace profshim
