#include "profshim/output/manifest.h"

#include <dirent.h>
#include <fcntl.h>

#include <algorithm>

#include "profshim/base/atomic_file.h"
#include "profshim/base/safe_files.h"
#include "rapidjson/document.h"
#include "rapidjson/prettywriter.h"
#include "rapidjson/stringbuffer.h"

namespace profshim::output {
namespace {

using Writer = rapidjson::PrettyWriter<rapidjson::StringBuffer>;

void member(Writer& out, const char* key, const std::string& value) {
  out.Key(key);
  out.String(value.data(), static_cast<rapidjson::SizeType>(value.size()));
}
void member(Writer& out, const char* key, std::int64_t value) {
  out.Key(key);
  out.Int64(value);
}
void member(Writer& out, const char* key, std::uint64_t value) {
  out.Key(key);
  out.Uint64(value);
}
void member(Writer& out, const char* key, bool value) {
  out.Key(key);
  out.Bool(value);
}

void write_window(Writer& out, const ManifestWindow& w) {
  out.StartObject();
  member(out, "window", w.window);
  member(out, "first_step", w.first_step);
  member(out, "last_step", w.last_step);
  member(out, "file", w.file);
  if (!w.stacks.empty()) member(out, "stacks", w.stacks);
  member(out, "bytes", w.bytes);
  member(out, "events", w.events);
  member(out, "dropped_events", w.dropped);
  member(out, "status", w.status);
  member(out, "complete", w.complete);
  member(out, "truncated", w.truncated);
  member(out, "recovered", w.recovered);
  out.EndObject();
}

std::string text(const rapidjson::Value& object, const char* key) {
  const auto at = object.FindMember(key);
  return at != object.MemberEnd() && at->value.IsString()
             ? std::string(at->value.GetString(), at->value.GetStringLength())
             : std::string{};
}
template <class T>
T number(const rapidjson::Value& object, const char* key, T otherwise) {
  const auto at = object.FindMember(key);
  if (at == object.MemberEnd()) return otherwise;
  if (at->value.IsInt64()) return static_cast<T>(at->value.GetInt64());
  return at->value.IsUint64() ? static_cast<T>(at->value.GetUint64()) : otherwise;
}
// For ranks and process ids, which are written as ints.
int small_number(const rapidjson::Value& object, const char* key, int otherwise) {
  const auto at = object.FindMember(key);
  return at != object.MemberEnd() && at->value.IsInt() ? at->value.GetInt() : otherwise;
}
// A manifest may be forged: paths that lead out of its folder count as absent.
std::string path_below(const rapidjson::Value& object, const char* key) {
  const std::string path = text(object, key);
  const bool leaves = path.starts_with('/') || ("/" + path + "/").find("/../") != std::string::npos ||
                      path.find('\0') != std::string::npos;
  return leaves ? std::string{} : path;
}
bool truth(const rapidjson::Value& object, const char* key) {
  const auto at = object.FindMember(key);
  return at != object.MemberEnd() && at->value.IsBool() && at->value.GetBool();
}

ManifestWindow read_window(const rapidjson::Value& value) {
  ManifestWindow w;
  w.window = number<std::int64_t>(value, "window", 0);
  w.first_step = number<std::int64_t>(value, "first_step", 0);
  w.last_step = number<std::int64_t>(value, "last_step", -1);
  w.file = path_below(value, "file");
  w.stacks = path_below(value, "stacks");
  w.bytes = number<std::uint64_t>(value, "bytes", 0);
  w.events = number<std::uint64_t>(value, "events", 0);
  w.dropped = number<std::uint64_t>(value, "dropped_events", 0);
  w.status = text(value, "status");
  w.complete = truth(value, "complete");
  w.truncated = truth(value, "truncated");
  w.recovered = truth(value, "recovered");
  return w;
}

}  // namespace

std::string manifest_text(const Manifest& m) {
  rapidjson::StringBuffer buffer;
  Writer out(buffer);
  out.SetIndent(' ', 1);
  out.StartObject();
  member(out, "format", std::int64_t{1});
  member(out, "rank", std::int64_t{m.rank.rank});
  member(out, "world_size", std::int64_t{m.rank.world_size});
  member(out, "host", m.rank.host);
  member(out, "pid", std::int64_t{m.pid});
  member(out, "run_name", m.run_name);
  member(out, "state", m.state);
  member(out, "spec_hash", m.spec_hash);
  member(out, "step_source", m.step_source);
  member(out, "steps_seen", m.steps_seen);
  member(out, "spool", m.spool);
  member(out, "updated_ns", m.updated_ns);
  out.Key("windows");
  out.StartArray();
  for (const ManifestWindow& w : m.windows) write_window(out, w);
  out.EndArray();
  out.Key("problems");
  out.StartArray();
  for (const std::string& p : m.problems) out.String(p.data(), static_cast<rapidjson::SizeType>(p.size()));
  out.EndArray();
  out.EndObject();
  return std::string(buffer.GetString(), buffer.GetSize()) + "\n";
}

bool write_manifest(const std::string& folder, const Manifest& m, int folder_fd) {
  const std::string text = manifest_text(m);
  AtomicFile file;
  return file.open(folder, "manifest-rank" + std::to_string(m.rank.rank) + ".json", folder_fd) &&
         file.write(text.data(), text.size()) && file.publish(AtomicFile::Existing::kReplace);
}

bool parse_manifest(std::string_view bytes, Manifest& m) {
  m = {};
  rapidjson::Document json;
  json.Parse<rapidjson::kParseIterativeFlag>(bytes.data(), bytes.size());
  if (json.HasParseError() || !json.IsObject()) return false;
  m.rank.rank = small_number(json, "rank", -1);
  m.rank.world_size = small_number(json, "world_size", -1);
  m.rank.host = text(json, "host");
  m.pid = small_number(json, "pid", 0);
  m.run_name = text(json, "run_name");
  m.state = text(json, "state");
  m.spec_hash = text(json, "spec_hash");
  m.step_source = text(json, "step_source");
  m.steps_seen = number<std::int64_t>(json, "steps_seen", 0);
  m.spool = text(json, "spool");
  m.updated_ns = number<std::int64_t>(json, "updated_ns", 0);
  if (const auto at = json.FindMember("windows"); at != json.MemberEnd() && at->value.IsArray()) {
    for (const auto& value : at->value.GetArray()) {
      if (value.IsObject()) m.windows.push_back(read_window(value));
    }
  }
  if (const auto at = json.FindMember("problems"); at != json.MemberEnd() && at->value.IsArray()) {
    for (const auto& value : at->value.GetArray()) {
      if (value.IsString()) m.problems.emplace_back(value.GetString(), value.GetStringLength());
    }
  }
  return true;
}

bool read_manifest(const std::string& path, Manifest& m, int folder_fd) {
  std::string bytes;
  int error = 0;
  const int folder = folder_fd >= 0 ? folder_fd : AT_FDCWD;
  const bool read = read_small_file(path, kMostManifest, bytes, error, nullptr, folder) && parse_manifest(bytes, m);
  if (!read) m = {};
  m.path = path;
  return read;
}

std::vector<Manifest> read_manifests(const std::string& folder) {
  std::vector<Manifest> found;
  DIR* const directory = opendir(folder.c_str());
  if (directory == nullptr) return found;
  while (const dirent* const entry = readdir(directory)) {
    const std::string name = entry->d_name;
    if (!name.starts_with("manifest-rank") || !name.ends_with(".json")) continue;
    Manifest m;
    if (!read_manifest(folder + "/" + name, m)) m.state = "unreadable: it is no manifest";
    found.push_back(std::move(m));
  }
  closedir(directory);
  std::sort(found.begin(), found.end(), [](const Manifest& a, const Manifest& b) { return a.rank.rank < b.rank.rank; });
  return found;
}

}  // namespace profshim::output
