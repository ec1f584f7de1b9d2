#include "profshim/run/manifest.h"

#include <fcntl.h>
#include <signal.h>

#include <algorithm>
#include <cerrno>

#include "profshim/base/atomic_file.h"
#include "profshim/base/files.h"
#include "profshim/json/document.h"
#include "profshim/json/writer.h"
#include "profshim/run/run_folder.h"
#include "profshim/spool/view.h"

namespace profshim::run {
namespace {

using Node = JsonDocument::Node;

// `text` may be invalid UTF-8.
JsonWriter& text_member(JsonWriter& json, std::string_view key, std::string_view text) {
  return json.key(key).bytes(text);
}

void write_window(JsonWriter& json, const ManifestWindow& w) {
  json.open_object();
  json.member("window", w.window).member("first_step", w.first_step).member("last_step", w.last_step);
  if (!w.phase.empty()) text_member(json, "phase", w.phase).member("occurrence", w.occurrence);
  text_member(json, "file", w.file);
  if (!w.stacks.empty()) text_member(json, "stacks", w.stacks);
  if (!w.tables.empty()) {
    json.key("key_averages").open_list();
    for (const std::string& table : w.tables) json.bytes(table);
    json.close_list();
  }
  if (!w.memory_page.empty()) text_member(json, "memory_timeline", w.memory_page);
  if (!w.summary.empty()) text_member(json, "summary", w.summary);
  json.member("bytes", w.bytes).member("events", w.events).member("dropped_events", w.dropped);
  text_member(json, "status", w.status);
  if (w.awaits_finish) json.member("awaits_finish", true);
  if (w.attempt != 0) json.member("attempt", w.attempt);
  json.member("complete", w.complete).member("truncated", w.truncated).member("recovered", w.recovered);
  if (!w.missing.empty()) {
    json.key("missing").open_list();
    for (const std::string& sentence : w.missing) json.bytes(sentence);
    json.close_list();
  }
  json.close_object();
}

constexpr std::string_view kLostKeys[] = {"lost_writer_behind", "lost_marks_full", "lost_disk_full", "lost_at_once"};
static_assert(std::size(kLostKeys) == kLostWindowReasons);

void write_counts(JsonWriter& json, const WindowCounts& c) {
  if (c.asked == 0) return;
  json.key("window_counts").open_object().member("asked", c.asked).member("written", c.written);
  json.member("incomplete", c.incomplete).member("waiting", c.waiting).member("empty", c.empty);
  json.member("discarded", c.discarded).member("failed", c.failed);
  for (std::size_t i = 0; i < kLostWindowReasons; ++i) json.member(kLostKeys[i], c.lost[i]);
  json.close_object();
}

WindowCounts read_counts(const Node& counts) {
  WindowCounts c;
  const auto read = [&counts](std::string_view key) { return counts.member(key).count(0); };
  c.asked = read("asked");
  c.written = read("written");
  c.incomplete = read("incomplete");
  c.waiting = read("waiting");
  c.empty = read("empty");
  c.discarded = read("discarded");
  c.failed = read("failed");
  for (std::size_t i = 0; i < kLostWindowReasons; ++i) c.lost[i] = read(kLostKeys[i]);
  return c;
}

// The manifest may be forged: a path that leads out of its folder counts as absent.
bool is_below(const std::string& path) {
  return !path.starts_with('/') && ("/" + path + "/").find("/../") == std::string::npos &&
         path.find('\0') == std::string::npos;
}

std::string path_below(const Node& object, std::string_view key) {
  std::string path = object.member(key).text();
  return is_below(path) ? path : std::string{};
}

ManifestWindow read_window(const Node& window) {
  ManifestWindow w;
  w.window = window.member("window").integer(0);
  w.first_step = window.member("first_step").integer(0);
  w.last_step = window.member("last_step").integer(-1);
  w.phase = window.member("phase").text();
  w.occurrence = window.member("occurrence").integer(0);
  w.file = path_below(window, "file");
  w.stacks = path_below(window, "stacks");
  for (const Node& table : window.member("key_averages").elements()) {
    if (is_below(table.text())) w.tables.push_back(table.text());
  }
  w.memory_page = path_below(window, "memory_timeline");
  w.summary = window.member("summary").text();
  w.bytes = window.member("bytes").count(0);
  w.events = window.member("events").count(0);
  w.dropped = window.member("dropped_events").count(0);
  w.status = window.member("status").text();
  w.awaits_finish = window.member("awaits_finish").truth();
  w.attempt = window.member("attempt").small_integer(0);
  w.complete = window.member("complete").truth();
  for (const Node& sentence : window.member("missing").elements()) {
    if (sentence.is_text()) w.missing.push_back(sentence.text());
  }
  w.truncated = window.member("truncated").truth();
  w.recovered = window.member("recovered").truth();
  return w;
}

}  // namespace

bool has_failed(const ManifestWindow& window) { return window.status.starts_with("failed"); }

std::vector<std::string> files_of(const ManifestWindow& window) {
  std::vector<std::string> files;
  if (!window.file.empty() && window.status == "written") files.push_back(window.file);
  if (!window.stacks.empty() && !window.stacks.starts_with("failed")) files.push_back(window.stacks);
  if (!window.memory_page.empty() && !window.memory_page.starts_with("failed")) files.push_back(window.memory_page);
  for (const std::string& table : window.tables) {
    if (!table.starts_with("failed")) files.push_back(table);
  }
  return files;
}

std::string manifest_text(const Manifest& m) {
  JsonWriter json(JsonWriter::Layout::kIndented);
  json.open_object().member("format", 1).member("rank", m.rank.rank).member("world_size", m.rank.world_size);
  if (m.rank.local_rank >= 0) json.member("local_rank", m.rank.local_rank);
  if (m.rank.node_rank >= 0) json.member("node_rank", m.rank.node_rank);
  text_member(json, "host", m.rank.host).member("pid", m.pid);
  text_member(json, "run_name", m.run_name);
  if (!m.run_id.empty()) text_member(json, "run_id", m.run_id);
  if (!m.role.empty()) text_member(json, "role", m.role);
  text_member(json, "state", m.state);
  text_member(json, "spec_hash", m.spec_hash);
  text_member(json, "step_source", m.step_source).member("steps_seen", m.steps_seen);
  text_member(json, "spool", m.spool).member("updated_ns", m.updated_ns);
  if (m.removed_traces != 0) json.member("removed_traces", m.removed_traces);
  if (!m.finish.empty()) text_member(json, "finish", m.finish);
  write_counts(json, m.counts);
  json.key("windows").open_list();
  for (const ManifestWindow& w : m.windows) write_window(json, w);
  json.close_list().key("problems").open_list();
  for (const std::string& problem : m.problems) json.bytes(problem);
  return json.close_list().close_object().text() + "\n";
}

Manifest first_manifest(const spool::View& view) {
  const spool::SpoolHeader& h = view.header();
  Manifest manifest;
  manifest.rank = view.rank();
  manifest.pid = h.pid;
  manifest.run_name = view.string(h.run_name);
  manifest.step_source = view.string(h.step_source);
  return manifest;
}

bool has_last_file(const Manifest& m) { return m.state == "finished" || m.state.starts_with("recovered"); }

bool write_manifest(const std::string& folder, const Manifest& m, int folder_fd) {
  const std::string text = manifest_text(m);
  AtomicFile file;
  return file.open(folder, "manifest-rank" + std::to_string(m.rank.rank) + ".json", folder_fd) &&
         file.write(text.data(), text.size()) && file.publish(AtomicFile::Existing::kReplace);
}

bool parse_manifest(std::string_view bytes, Manifest& m) {
  m = {};
  const JsonDocument json(bytes);
  const Node root = json.root();
  if (!root.is_object()) return false;
  m.rank.rank = root.member("rank").small_integer(-1);
  m.rank.world_size = root.member("world_size").small_integer(-1);
  m.rank.local_rank = root.member("local_rank").small_integer(-1);
  m.rank.node_rank = root.member("node_rank").small_integer(-1);
  m.rank.host = root.member("host").text();
  m.pid = root.member("pid").small_integer(0);
  m.run_name = root.member("run_name").text();
  m.run_id = root.member("run_id").text();
  m.role = root.member("role").text();
  m.state = root.member("state").text();
  m.spec_hash = root.member("spec_hash").text();
  m.step_source = root.member("step_source").text();
  m.steps_seen = root.member("steps_seen").integer(0);
  m.spool = root.member("spool").text();
  m.updated_ns = root.member("updated_ns").integer(0);
  m.removed_traces = root.member("removed_traces").integer(0);
  m.finish = root.member("finish").text();
  m.counts = read_counts(root.member("window_counts"));
  for (const Node& window : root.member("windows").elements()) {
    if (window.is_object()) m.windows.push_back(read_window(window));
  }
  for (const Node& problem : root.member("problems").elements()) {
    if (problem.is_text()) m.problems.push_back(problem.text());
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

std::vector<Manifest> read_manifests_in(int folder_fd) {
  std::vector<Manifest> found;
  const std::string run = run_id_of(folder_fd);
  for (const std::string& name : names_in(folder_fd)) {
    if (!name.starts_with("manifest-rank") || !name.ends_with(".json")) continue;
    Manifest m;
    if (!read_manifest(name, m, folder_fd)) m.state = "unreadable: no permission, or not a valid manifest";
    // An earlier run of this folder may have had more ranks.
    const bool is_of_other_run = !m.run_id.empty() && !run.empty() && m.run_id != run;
    if (!is_of_other_run) found.push_back(std::move(m));
  }
  std::sort(found.begin(), found.end(), [](const Manifest& a, const Manifest& b) { return a.rank.rank < b.rank.rank; });
  return found;
}

std::vector<Manifest> read_manifests(const std::string& folder) {
  const Descriptor opened(open_high(folder.c_str(), O_PATH | O_DIRECTORY));
  std::vector<Manifest> found = read_manifests_in(opened.get());
  for (Manifest& m : found) m.path = folder + "/" + m.path;
  return found;
}

namespace {

bool is_alive(int pid) { return pid > 0 && (kill(pid, 0) == 0 || errno == EPERM); }

bool has_ended(const Manifest& manifest) { return has_last_file(manifest) || !is_alive(manifest.pid); }

}  // namespace

RanksOfHost::RanksOfHost(const std::string& folder, const Manifest& own) {
  for (const Manifest& manifest : read_manifests(folder)) {
    if (manifest.rank.host == own.rank.host && manifest.pid != own.pid && !has_ended(manifest))
      writing_.push_back(manifest.path);
  }
}

bool RanksOfHost::some_still_write() {
  while (!writing_.empty()) {
    Manifest manifest;
    // A manifest that cannot be read has no process.
    read_manifest(writing_.back(), manifest);
    if (!has_ended(manifest)) return true;
    writing_.pop_back();
  }
  return false;
}

}  // namespace profshim::run
