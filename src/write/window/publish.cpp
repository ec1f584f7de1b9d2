#include "profshim/write/publish.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <iterator>

#include "export_file.h"
#include "profshim/base/files.h"
#include "profshim/base/text/message_text.h"
#include "profshim/run/run_folder.h"
#include "profshim/trace/writer.h"
#include "window_answers.h"

namespace profshim::write {
namespace {

// Returns nanoseconds; < 0 = unknown.
double spent_recording(const kineto::WindowSummary& summary, const EventCosts& costs) {
  double sum = 0;
  const auto add = [&sum](std::uint64_t events, double each) {
    if (events == 0 || sum < 0) return;
    sum = each < 0 ? -1 : sum + static_cast<double>(events) * each;
  };
  for (std::size_t i = 0; i < std::size(costs.of_layer); ++i) add(summary.of_layer[i], costs.of_layer[i]);
  add(summary.memory, costs.memory);
  return sum;
}

// Returns the share of the window spent recording its events; -1 if a cost or the window's length is unknown.
double overhead_percent(const spool::View& view, const spool::Window& window, const kineto::WindowSummary& summary,
                        const EventCosts& costs) {
  const Ticks end = window.end.load(std::memory_order_acquire);
  if (end <= window.begin) return -1;
  const ClockMap clock(view.anchors(), view.header().clock);
  const auto lasted_ns = static_cast<double>(clock.unix_ns(end) - clock.unix_ns(window.begin));
  const double spent_ns = spent_recording(summary, costs);
  return lasted_ns > 0 && spent_ns >= 0 ? 100.0 * spent_ns / lasted_ns : -1;
}

// output.gzip = "auto" compresses from this many events on, about 5 MB.
constexpr std::uint64_t kGzipFromCalls = 20'000;
constexpr int kMostParts = 10'000;

NameValues values_of(const Spec& spec, const spool::View& view, const kineto::WindowSummary& summary,
                     const spool::Window& w) {
  const spool::SpoolHeader& h = view.header();
  NameValues v;
  v.rank = view.rank();
  v.run_name = view.string(h.run_name);
  v.host = view.string(h.host);
  v.job_id = view.string(h.job_key);
  v.rank.role = spec.process.role;
  v.pid = h.pid;
  const bool has_steps = summary.first_step <= summary.last_step;
  v.first_step = has_steps ? summary.first_step : 0;
  v.last_step = has_steps ? summary.last_step : 0;
  if (!summary.phase.empty()) {
    v.phase = summary.phase;
    v.occurrence = summary.occurrence;
    v.first_step = v.last_step = w.step != kNoStepNumber ? w.step : summary.occurrence;
  }
  v.window = static_cast<std::int64_t>(w.number);
  v.epoch = w.epoch;
  v.time_ns = realtime_ns();
  return v;
}

int write_file(kineto::WindowTraceBuilder& builder, const std::string& name, bool gzip, const Spec& spec,
               const PublishOptions& options, std::uint64_t& bytes) {
  AtomicFile file;
  if (!file.open(options.folder, name, options.folder_fd)) return file.error();
  std::unique_ptr<ByteSink> sink = file_sink(file);
  if (gzip) sink = gzip_sink(std::move(sink), spec.output.gzip_level, options.gzip_threads);
  const bool whole = builder.write(*sink, options.on_progress);
  if (!sink->close() || !whole) return file.error() != 0 ? file.error() : EIO;
  if (options.on_file) options.on_file(file.inode());
  if (file.publish(existing(spec))) {
    bytes = file.size();
    return 0;
  }
  if (options.on_file) options.on_file(0);
  return file.error();
}

// True if a process wrote this file for the window, but was killed before marking the window written.
bool is_file_of(const spool::Window& window, const std::string& name, int folder_fd, std::uint64_t& bytes) {
  const std::uint64_t inode = window.file.load(std::memory_order_acquire);
  struct stat s {};
  if (inode == 0 || fstatat(folder_fd, name.c_str(), &s, AT_SYMLINK_NOFOLLOW) != 0 || s.st_ino != inode) return false;
  bytes = static_cast<std::uint64_t>(s.st_size);
  return true;
}

int write_under_free_name(kineto::WindowTraceBuilder& builder, const spool::Window& window, const std::string& name,
                          bool gzip, const Spec& spec, const PublishOptions& options,
                          kineto::WindowTraceOptions& trace_options, run::ManifestWindow& result) {
  const Descriptor opened(options.folder_fd < 0 ? open_folder(options.folder).release() : -1);
  const int folder_fd = options.folder_fd < 0 ? opened.get() : options.folder_fd;
  int error = folder_fd < 0 ? errno : EEXIST;
  for (int part = 1; part <= kMostParts && error == EEXIST; ++part) {
    const std::string candidate = part == 1 ? name : with_part(name, "_part" + std::to_string(part));
    const std::string path = options.folder + "/" + candidate;
    if (is_file_of(window, candidate, folder_fd, result.bytes)) {
      result.file = candidate;
      return 0;
    }
    // This check only avoids needless writing: AtomicFile::publish() checks again.
    if (spec.output.overwrite != Overwrite::kYes && faccessat(folder_fd, candidate.c_str(), F_OK, 0) == 0) continue;
    trace_options.trace_name = path;
    builder.set_options(trace_options);
    error = write_file(builder, candidate, gzip, spec, options, result.bytes);
    if (error == 0) result.file = candidate;
  }
  return error;
}

}  // namespace

AtomicFile::Existing existing(const Spec& spec) {
  return spec.output.overwrite == Overwrite::kYes ? AtomicFile::Existing::kReplace
                                                  : AtomicFile::Existing::kKeepExisting;
}

bool enough_space(const std::string& folder, std::uint64_t wanted, std::uint64_t& free_bytes) {
  struct statvfs s {};
  if (statvfs(folder.c_str(), &s) != 0) return true;  // the write itself fails without space
  free_bytes = std::uint64_t{s.f_bavail} * s.f_frsize;
  return free_bytes >= wanted;
}

run::ManifestWindow publish_window(const spool::View& view, std::uint64_t number, const Spec& spec,
                                   const PublishOptions& options) {
  run::ManifestWindow result;
  result.recovered = options.recovered;
  const spool::Window& w = view.window(number);
  result.window = static_cast<std::int64_t>(w.number);

  kineto::WindowTraceOptions trace_options;
  trace_options.recovered = options.recovered;
  trace_options.stall_us = options.stall_us;
  trace_options.cpu = options.cpu;
  trace_options.memory_entries = static_cast<std::uint64_t>(spec.limits.memory_entries);
  trace_options.give_up = options.give_up;
  trace_options.rules = {spec.include, spec.exclude, static_cast<double>(spec.min_us)};
  WindowAnswers answers(spec, options);
  trace_options.observer = answers.observer();
  // The builder comes first: the file name needs the window's steps, and the trace contains the name.
  auto gathering = options.gathering != nullptr ? std::unique_lock(*options.gathering) : std::unique_lock<std::mutex>();
  kineto::WindowTraceBuilder builder(view, number, trace_options);
  if (gathering) gathering.unlock();
  const kineto::WindowSummary& summary = builder.summary();
  if (options.costs != nullptr) trace_options.overhead_percent = overhead_percent(view, w, summary, *options.costs);
  result.first_step = summary.first_step;
  result.last_step = summary.last_step;
  result.phase = summary.phase;
  result.occurrence = summary.occurrence;
  result.dropped = summary.dropped;
  result.complete = summary.complete;
  result.missing = summary.missing;
  result.other_losses = summary.other_losses;
  result.truncated = summary.truncated;
  // A window that a limit or a lack of memory emptied has a loss to tell.
  if (builder.empty() && summary.dropped == 0 && !summary.truncated) {
    result.status = "empty";
    return result;
  }

  const bool gzip =
      spec.output.gzip == Gzip::kYes ||
      (spec.output.gzip == Gzip::kAuto && summary.calls + summary.memory + summary.device >= kGzipFromCalls);
  std::string added;
  std::string name = trace_file_name(spec, values_of(spec, view, summary, w), added);
  const bool named_gz = name.ends_with(".gz");
  if (gzip && !named_gz) name += ".gz";
  std::uint64_t free_bytes = 0;
  if (!enough_space(options.folder, spec.limits.disk_free, free_bytes)) {
    result.status = "failed: only " + format_size(free_bytes) + " free, but limits.disk_free is " +
                    format_size(spec.limits.disk_free);
    return result;
  }
  const int error = write_under_free_name(builder, w, name, gzip || named_gz, spec, options, trace_options, result);
  if (error == 0 && spec.output.stacks && builder.has_stacks()) {
    result.stacks = write_export(spec, options, result.file, ".stacks.txt",
                                 [&](ByteSink& sink) { return builder.write_stacks(sink, spec.output.stacks_metric); });
  }
  if (error == 0) answers.write(view.header().rank, result);
  result.events = summary.events;
  result.status = error == 0 ? "written" : std::string("failed: ") + error_text(error);
  return result;
}

}  // namespace profshim::write
