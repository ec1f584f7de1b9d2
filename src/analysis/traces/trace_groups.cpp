#include <algorithm>
#include <string_view>
#include <tuple>

#include "profshim/analysis.h"
#include "profshim/analysis/groups.h"
#include "profshim/trace/metadata.h"
#include "profshim/trace/reader.h"

namespace profshim {
namespace {

bool have_common(const auto& a, const auto& b) {
  return std::any_of(a.begin(), a.end(), [&](const auto& one) { return b.contains(one); });
}

std::set<std::string_view> words_of(std::string_view text) {
  std::set<std::string_view> words;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(' '), text.size());
    if (end > 0) words.insert(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return words;
}

std::set<std::string> launches_of(const std::vector<TraceHead>& traces) {
  std::set<std::string> launches;
  for (const TraceHead& trace : traces) launches.insert(trace.launch);
  return launches;
}

/// The traces of one run folder, role and world size.
struct Part {
  TraceGroup group;
  std::string launch;
  std::set<std::string> hosts, folders;

  bool holds(const TraceHead& trace) const {
    return folders.contains(trace.folder) && group.role == trace.role && group.world_size == trace.world_size &&
           (!trace.folder.empty() || group.run_name == trace.run_name);
  }
  /// A job may have a run folder for each rank, or, without a common job id, a run name on each host.
  bool continues(const Part& other) const {
    const bool has_name = group.run_name == other.group.run_name || !have_common(hosts, other.hosts);
    return has_name && have_common(words_of(launch), words_of(other.launch)) && group.role == other.group.role &&
           group.world_size == other.group.world_size && !have_common(group.ranks, other.group.ranks);
  }
  void add(const Part& other) {
    group.ranks.insert(other.group.ranks.begin(), other.group.ranks.end());
    group.paths.insert(group.paths.end(), other.group.paths.begin(), other.group.paths.end());
    hosts.insert(other.hosts.begin(), other.hosts.end());
    folders.insert(other.folders.begin(), other.folders.end());
  }
};

Part part_of(const TraceHead& trace) {
  return {.group = {.role = trace.role,
                    .run_name = trace.run_name,
                    .folder = trace.folder,
                    .world_size = trace.world_size,
                    .ranks = trace.ranks,
                    .paths = {trace.path}},
          .launch = trace.launch,
          .hosts = {trace.host},
          .folders = {trace.folder}};
}

}  // namespace

TraceHead read_trace_head(const std::string& path) {
  TraceMetadata metadata;
  TraceVisitor visitor;
  visitor.metadata = [&](std::string_view key, std::string_view json, bool) { metadata.read(key, json); };
  visitor.event = [](const ReadEvent&) { return false; };
  read_trace(path, visitor);
  const auto& merged = metadata.merged;
  TraceHead head{.path = path, .host = metadata.host, .world_size = metadata.world_size};
  if (metadata.recording) {
    head.run_name = metadata.recording->run_name;
    head.role = metadata.recording->role;
  }
  if (!merged.empty() && merged.front().recording) head.role = merged.front().recording->role;
  for (const MergedRankInfo& rank : merged) head.ranks.insert(rank.rank);
  if (merged.empty() && metadata.rank >= 0) head.ranks.insert(metadata.rank);
  return head;
}

std::string TraceGroup::title() const {
  if (ranks.empty()) return !role.empty() ? role : run_name;
  const std::string text = (role.empty() ? "" : role + ", ") + ranks_text({ranks.begin(), ranks.end()});
  return world_size > 0 ? text + " of " + std::to_string(world_size) : text;
}

bool are_of_one_launch(const std::set<std::string>& launches) {
  if (launches.empty()) return false;
  std::set<std::string_view> known = words_of(*launches.begin());
  std::vector<std::set<std::string_view>> others;
  for (const std::string& launch : launches) others.push_back(words_of(launch));
  for (std::size_t before = others.size() + 1; others.size() < before;) {
    before = others.size();
    std::erase_if(others, [&](const auto& words) {
      const bool is_connected = have_common(words, known);
      if (is_connected) known.insert(words.begin(), words.end());
      return is_connected;
    });
  }
  return others.empty();
}

std::vector<TraceGroup> group_traces(const std::vector<TraceHead>& traces, bool several_runs) {
  if (!several_runs && !are_of_one_launch(launches_of(traces))) {
    TraceGroup all;
    for (const TraceHead& trace : traces) all.paths.push_back(trace.path);
    return {all};
  }
  std::vector<Part> parts, groups;
  for (const TraceHead& trace : traces) {
    const auto at = std::find_if(parts.begin(), parts.end(), [&](const Part& part) { return part.holds(trace); });
    if (at == parts.end()) {
      parts.push_back(part_of(trace));
    } else {
      at->add(part_of(trace));
    }
  }
  for (const Part& part : parts) {
    const auto at =
        std::find_if(groups.begin(), groups.end(), [&](const Part& group) { return part.continues(group); });
    if (at == groups.end()) {
      groups.push_back(part);
    } else {
      at->add(part);
    }
  }
  std::stable_sort(groups.begin(), groups.end(),
                   [](const Part& a, const Part& b) { return is_earlier_folder(a.group.folder, b.group.folder); });
  std::vector<TraceGroup> result;
  for (Part& group : groups) result.push_back(std::move(group.group));
  if (result.empty()) result.emplace_back();
  return result;
}

bool is_earlier_folder(const std::string& a, const std::string& b) {
  const auto key = [](const std::string& folder) {
    const std::size_t end = folder.find_last_not_of("0123456789") + 1;
    const std::string digits = folder.substr(end);
    const bool has_number = !digits.empty() && end > 0 && folder[end - 1] == '-';
    const std::string stem = has_number ? folder.substr(0, end - 1) : folder;
    return std::tuple(stem, has_number ? digits.size() : 0, has_number ? digits : "");
  };
  return key(a) < key(b);
}

}  // namespace profshim
