#include "seen_trace.h"

#include <rapidjson/document.h>
#include <rapidjson/stringbuffer.h>
#include <rapidjson/writer.h>

#include <algorithm>
#include <filesystem>
#include <sstream>
#include <stdexcept>

#include "profshim/trace/reader.h"
#include "scratch_folder.h"

namespace profshim::e2e {
namespace {

std::string text_of(const ReadEvent::ReadArg& arg) {
  using Kind = ReadEvent::ReadArg::Kind;
  switch (arg.kind) {
    case Kind::kNull:
      return "null";
    case Kind::kBool:
      return arg.integer != 0 ? "true" : "false";
    case Kind::kInt:
      return std::to_string(arg.integer);
    case Kind::kDouble: {
      std::ostringstream text;
      text << arg.number;
      return text.str();
    }
    default:
      return std::string(arg.text);
  }
}

SeenEvent seen(const ReadEvent& event) {
  SeenEvent e;
  e.phase = event.phase;
  e.category = event.category;
  e.name = event.name;
  e.pid = event.pid;
  e.tid = event.tid;
  e.ts_ns = event.ts_ns;
  e.duration_ns = event.duration_ns;
  e.id = event.id;
  e.args.reserve(event.args.size());
  for (const auto& arg : event.args) e.args.set(arg.key, text_of(arg));
  return e;
}

bool is_before(const SeenArgs::value_type& arg, std::string_view key) { return arg.first < key; }

bool ends_with(const std::string& text, const std::string& end) {
  return text.size() >= end.size() && text.compare(text.size() - end.size(), end.size(), end) == 0;
}

}  // namespace

SeenArgs::const_iterator SeenArgs::find(std::string_view key) const {
  const auto at = std::lower_bound(all_.begin(), all_.end(), key, is_before);
  return at != all_.end() && at->first == key ? at : all_.end();
}

const std::string& SeenArgs::at(std::string_view key) const {
  const auto found = find(key);
  if (found == end()) throw std::out_of_range("no argument " + std::string(key));
  return found->second;
}

void SeenArgs::set(std::string_view key, std::string value) {
  const auto at = std::lower_bound(all_.begin(), all_.end(), key, is_before);
  if (at != all_.end() && at->first == key)
    at->second = std::move(value);
  else
    all_.emplace(at, std::string(key), std::move(value));
}

SeenTrace read_seen(const std::string& path) {
  SeenTrace trace;
  trace.path = path;
  TraceVisitor visitor;
  visitor.metadata = [&](std::string_view key, std::string_view json, bool) {
    trace.metadata[std::string(key)] = std::string(json);
  };
  visitor.event = [&](const ReadEvent& event) {
    trace.events.push_back(seen(event));
    return true;
  };
  const ReadResult result = read_trace(path, visitor);
  trace.readable = result.ok;
  trace.error = result.error;
  return trace;
}

std::vector<std::string> traces_below(const std::string& folder) {
  std::vector<std::string> paths;
  for (const std::string& file : files_below(folder)) {
    const std::string name = std::filesystem::path(file).filename().string();
    if (name[0] != '.' && name.rfind("manifest-", 0) != 0 && name.rfind("summary-", 0) != 0 &&
        (ends_with(name, ".json") || ends_with(name, ".json.gz")))
      paths.push_back(folder + "/" + file);
  }
  return paths;
}

std::vector<SeenTrace> read_folder(const std::string& folder) {
  std::vector<SeenTrace> traces;
  for (const std::string& path : traces_below(folder)) traces.push_back(read_seen(path));
  return traces;
}

int SeenTrace::rank() const {
  const auto info = metadata.find("distributedInfo");
  if (info == metadata.end()) return -1;
  const std::string rank = json_member(info->second, "rank");
  return rank.empty() ? -1 : std::stoi(rank);
}

std::vector<const SeenEvent*> SeenTrace::calls(const std::string& name) const {
  std::vector<const SeenEvent*> found;
  for (const SeenEvent& e : events)
    if (e.phase == "X" && e.name == name) found.push_back(&e);
  return found;
}

std::map<std::string, int> SeenTrace::counts(const std::string& category) const {
  std::map<std::string, int> counts;
  for (const SeenEvent& e : events) {
    if (e.phase != "X" || (!category.empty() && e.category != category)) continue;
    if (e.name != "MPI polling") {
      ++counts[e.name];
      continue;
    }
    for (const auto& [key, value] : e.args)
      if (key.rfind("MPI_", 0) == 0) counts[key] += std::stoi(value);
  }
  return counts;
}

std::vector<std::int64_t> SeenTrace::steps() const {
  std::vector<std::pair<std::int64_t, std::int64_t>> found;
  for (const SeenEvent& e : events)
    if (e.phase == "X" && e.name.rfind("ProfilerStep#", 0) == 0)
      found.emplace_back(e.ts_ns, std::stoll(e.name.substr(13)));
  std::sort(found.begin(), found.end());
  std::vector<std::int64_t> steps;
  for (const auto& [ts, step] : found)
    if (std::find(steps.begin(), steps.end(), step) == steps.end()) steps.push_back(step);
  return steps;
}

std::string SeenTrace::property(const std::string& key) const {
  const auto object = metadata.find("profshim");
  return object == metadata.end() ? "" : json_member(object->second, key);
}

std::string json_member(const std::string& object, const std::string& key) {
  rapidjson::Document document;
  document.Parse(object.c_str(), object.size());
  if (document.HasParseError() || !document.IsObject() || !document.HasMember(key.c_str())) return "";
  const auto& value = document[key.c_str()];
  if (value.IsString()) return value.GetString();
  rapidjson::StringBuffer text;
  rapidjson::Writer<rapidjson::StringBuffer> writer(text);
  value.Accept(writer);
  return text.GetString();
}

}  // namespace profshim::e2e
