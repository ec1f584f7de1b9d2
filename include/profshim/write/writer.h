// The writer: a thread that makes traces of the windows that the session has closed. It reads the spool, and knows of
// the session only what stands here.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>

#include "profshim/base/rank.h"
#include "profshim/spec.h"
#include "profshim/window/costs.h"
#include "profshim/window/queue.h"
#include "profshim/window/trace_size.h"

namespace profshim::write {

/// Constant while the writer lives.
struct WritePlan {
  const Spec& spec;
  Rank rank;
  std::string folder, run_name, run_id;  // of the run; the folder's path is absolute
  int attempt = -1;                      // of torchrun; -1 = unknown
  bool is_first_selected = false;        // this rank speaks for all
  int gzip_threads = 0;
  std::string spool_path;  // "" = anonymous memory, which ends with the process
  char* spool = nullptr;   // its memory: the writer changes only the states of windows
  std::size_t spool_bytes = 0;
};

/// The recording whose windows are written. The writer thread calls the functions.
class LiveRecording {
 public:
  LiveRecording() = default;
  LiveRecording(const LiveRecording&) = delete;
  LiveRecording& operator=(const LiveRecording&) = delete;
  virtual ~LiveRecording() = default;

  /// True while events are recorded.
  virtual bool is_armed() const = 0;
  /// True once the device activity before `window_end` is in the spool, or is given up.
  virtual bool has_settled(Ticks window_end) = 0;
  /// Adds to the spool what a trace needs besides the events: a clock anchor, and the modules of call stacks.
  virtual void complete_spool() = 0;
  /// Adds the modules of call stacks alone, if stacks are taken.
  virtual void complete_stacks() = 0;
  /// Nothing = not measured yet.
  virtual std::optional<EventCosts> event_costs() = 0;
  /// Nothing = unknown. Call once for each window.
  virtual std::optional<CpuUse> cpu_use(std::uint64_t window) = 0;
  /// Returns the memory that the job can spare for the writer now.
  virtual std::uint64_t spare_bytes() = 0;
  /// Adds a sentence to "problems" of the traces.
  virtual void add_problem(const char* matter, const std::string& sentence) = 0;
  /// Removes the spool's file: no later window comes. The memory stays.
  virtual void remove_spool() = 0;
  /// Work of the session that may take the writer's time while no window waits.
  virtual bool has_idle_work() const = 0;
  virtual void do_idle_work() = 0;
};

/// The windows that were written or tried, kept or removed.
struct Outcome {
  std::uint64_t written = 0, failed = 0, removed = 0;  // removed: of `written`, by retention
  std::uint64_t without_step = 0;                      // without a complete step
  std::uint64_t closed_early = 0, incomplete = 0;
  std::uint64_t dropped = 0;           // events
  std::set<std::string> other_losses;  // of incomplete windows: losses that no number above tells
  std::string lost_windows;            // run::WindowCounts::loss_text()
  bool is_any_lost = false, is_all_lost = false;
  std::string first_file;  // of the traces that are left; "" = none
  std::string last_table;  // text of summary.table, of the newest window
};

/// Tells if the end of the job may wait longer, of a wait of at most `most_ns` that began at `began_ns`.
using MayWait = std::function<bool(std::int64_t began_ns, std::int64_t most_ns)>;

class Writer {
 public:
  /// Call on a thread of the job: copies the environment for finish.command, which the job may change at any time. The
  /// arguments must outlive the writer.
  Writer(WritePlan plan, WindowQueue& queue, TraceSize& trace_size, LiveRecording& recording);
  ~Writer();

  /// Starts the thread. Returns 0 or an errno.
  int start();
  /// Returns a gettid(); 0 = the thread has not begun.
  pid_t thread_id() const;
  /// From now on, the thread writes the windows that are closed, begins none after `begin_until_ns`, and ends.
  void stop(std::int64_t begin_until_ns);
  /// Waits at most `most_ns`. Returns true if the thread has written its last file.
  bool wait_for_end(std::int64_t most_ns);
  void join();
  /// Call once wait_for_end() is true.
  Outcome outcome() const;
  /// Call once wait_for_end() is true, and the claim on the rank is released. Runs finish.command if it has not had all
  /// traces, and waits for it unless `waits` is false. With finish.ranks, first waits up to 10 s for the last files of
  /// the other ranks of the host.
  void run_finish_command(bool waits, const MayWait& may_wait);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

/// begin_until_ns of Writer::stop(): without end.
inline constexpr std::int64_t kNoEnd = INT64_MAX;

/// True if `folder` has limits.disk_free free, or if that is unknown. May block on the file system.
bool has_disk_space(const Spec& spec, const std::string& folder);

}  // namespace profshim::write
