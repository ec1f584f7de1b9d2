#include "write_recovered_traces.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>

#include "profshim/base/atomic_file.h"
#include "profshim/run/run_folder.h"
#include "profshim/spec.h"
#include "profshim/trace/completeness.h"
#include "profshim/window_trace.h"
#include "profshim/write/finish_command.h"

namespace profshim::write {

Recovery::Recovery(const spool::View& view, const OpenFolder& folder, const SpoolFile& file, std::string spool,
                   const SpoolHead& head, const RecoverOptions& options, std::vector<RecoverNote>& notes)
    : view_(view),
      folder_(folder),
      file_(file),
      spool_(std::move(spool)),
      head_(head),
      options_(options),
      notes_(notes) {
  load_spec();
  load_manifest();
}

RecoverOutcome Recovery::run() {
  for (const std::uint64_t number : unwritten()) {
    try {
      if (!failed_) publish(number);
    } catch (const kineto::GivenUp&) {
      failed_ = true;
    }
  }
  count_windows();
  save_manifest();
  remove_unpublished();
  if (failed_) return RecoverOutcome::kFailed;
  return written_ > 0 ? RecoverOutcome::kRecovered : RecoverOutcome::kNothing;
}

std::vector<std::uint64_t> Recovery::unwritten() const {
  const auto state_of = [this](std::uint64_t number) {
    return view_.window(number).state.load(std::memory_order_acquire);
  };
  const std::uint64_t opened = view_.header().windows.load(std::memory_order_acquire);
  std::vector<std::uint64_t> numbers;
  for (std::uint64_t n = opened > spool::kMaxWindows ? opened - spool::kMaxWindows : 0; n < opened; ++n) {
    if (state_of(n) == spool::WindowState::kOpen || state_of(n) == spool::WindowState::kClosed) numbers.push_back(n);
  }
  const bool searched = opened == 0 && state_of(spool::kSearchWindow) == spool::WindowState::kOpen;
  if (searched) numbers.push_back(spool::kSearchWindow);
  return numbers;
}

void Recovery::load_spec() {
  const std::string text(view_.string(view_.header().spec, spool::kMaxText));
  LoadedSpec loaded = load_spec_text(text, "spool");
  if (!loaded.ok()) {
    // A folder's name may be invalid UTF-8, which TOML does not allow.
    std::string ascii = text;
    std::replace_if(
        ascii.begin(), ascii.end(), [](char c) { return static_cast<unsigned char>(c) >= 0x80; }, '_');
    loaded = load_spec_text(ascii, "spool");
  }
  if (!loaded.ok())
    add_note(
        -1, "",
        "cannot read its spec (settings) from profshim's buffer file; file names follow the default output.filename");
  spec_ = loaded.spec;
  spec_.limits.disk_free = 0;  // a recovered trace may use all free space
}

void Recovery::load_manifest() {
  const spool::SpoolHeader& h = view_.header();
  const std::string name = "manifest-rank" + std::to_string(h.rank) + ".json";
  const bool found = run::read_manifest(name, manifest_, folder_.fd.get()) && manifest_.run_id == head_.run_id;
  // A requeued job uses the same folder: the manifest may be a later process's.
  of_later_process_ = found && (manifest_.pid != h.pid || manifest_.rank.host != view_.string(h.host));
  if (!found) {
    manifest_ = run::first_manifest(view_);
    manifest_.run_id = head_.run_id;
    manifest_.role = spec_.process.role;
    manifest_.spec_hash = head_.spec_hash;
  }
  manifest_.rank.rank = h.rank;
  manifest_.rank.local_rank = h.local_rank;
  manifest_.rank.node_rank = h.node_rank;
  if (!of_later_process_) manifest_.steps_seen = static_cast<std::int64_t>(h.steps_seen.load());
}

/// The killed process may have written windows that its last manifest does not have: `written` is what remains.
void Recovery::count_windows() {
  if (of_later_process_) return;
  run::WindowCounts& counts = manifest_.counts;
  counts.failed = counts.incomplete = 0;
  for (const run::ManifestWindow& window : manifest_.windows) {
    counts.failed += run::has_failed(window) ? 1 : 0;
    counts.incomplete += window.status == "written" && !window.complete ? 1 : 0;
  }
  const std::uint64_t opened = view_.header().windows.load(std::memory_order_acquire);
  counts.written = opened > 0 ? opened - std::min(opened, counts.failed + counts.empty + counts.discarded) : written_;
  counts.update(view_.header());
}

void Recovery::save_manifest() {
  // A later process that is alive writes the manifest itself.
  if (of_later_process_ && !run::has_last_file(manifest_) &&
      run::is_claimed(folder_.path, manifest_.rank.rank, folder_.fd.get()))
    return;
  if (!of_later_process_) {
    manifest_.state = failed_ ? "recovered in part" : "recovered";
    if (!failed_) manifest_.spool.clear();
  }
  manifest_.updated_ns = realtime_ns();
  if (run::write_manifest(folder_.path, manifest_, folder_.fd.get())) return;
  failed_ = true;
  add_note(-1, "",
           "cannot write its manifest into " + folder_.path +
               "; make the folder writable or free disk space, then run: profshim recover " + folder_.path);
}

void Recovery::remove_unpublished() {
  const std::string rank = std::to_string(view_.header().rank);
  std::vector<std::string> files = {"manifest-rank" + rank + ".json", "summary-rank" + rank + ".json"};
  for (const run::ManifestWindow& window : manifest_.windows) {
    if (!window.recovered) continue;
    const std::vector<std::string> more = run::files_of(window);
    files.insert(files.end(), more.begin(), more.end());
  }
  for (const std::string& file : files) AtomicFile::remove_unpublished(folder_.fd.get(), file, head_.process.pid);
}

/// True if an earlier recovery wrote this trace, but failed for other windows. Windows of another process of this rank
/// may have the same number.
bool Recovery::is_known(const run::ManifestWindow& result) const {
  return std::any_of(manifest_.windows.begin(), manifest_.windows.end(), [&](const auto& w) {
    return w.file == result.file && w.recovered && w.status == "written" && result.status == "written";
  });
}

void Recovery::publish(std::uint64_t number) {
  PublishOptions options;
  options.folder = folder_.path;
  options.folder_fd = folder_.fd.get();
  options.recovered = true;
  options.gzip_threads = options_.gzip_threads;
  options.give_up = options_.give_up;
  const std::uint64_t place = view_.header().windows_at + number % spool::kMaxWindows * sizeof(spool::Window);
  const std::uint64_t at = number == spool::kSearchWindow ? offsetof(spool::SpoolHeader, search) : place;
  options.on_file = [&](std::uint64_t inode) { file_.note_trace(at, inode); };
  run::ManifestWindow result = publish_window(view_, number, spec_, options);
  if (is_known(result)) return;
  result.attempt = head_.attempt;
  result.awaits_finish =
      spec_.finish.after_each_window && result.status == "written" && runs_finish_command(spec_, manifest_.rank);
  if (!of_later_process_) {
    std::erase_if(manifest_.windows, [&](const auto& w) {
      return w.window == result.window && w.attempt == result.attempt && run::has_failed(w);
    });
  }
  manifest_.windows.push_back(result);
  if (options_.on_window) options_.on_window(folder_.path, view_.header().rank, result);
  if (result.status == "written") {
    ++written_;
    add_note(result.window, folder_.path + "/" + result.file,
             folder_.path + "/" + result.file + " (" + std::to_string(result.events) + " events" +
                 (result.complete ? ")" : ", incomplete: " + missing_text(result.missing) + ")"));
  } else if (result.status == "empty") {
    manifest_.counts.empty += of_later_process_ ? 0 : 1;
  } else {
    failed_ = true;
    add_note(result.window, "", result.status);
  }
}

void Recovery::add_note(std::int64_t window, const std::string& file, const std::string& message) {
  const int rank = view_.header().rank;
  notes_.push_back(
      {spool_, rank, window, file,
       "rank " + std::to_string(rank) + (window < 0 ? ": " : ", window " + std::to_string(window) + ": ") + message});
}

}  // namespace profshim::write
