// What every module may use: time, one-line log, ranks, problems, globs, atomic files. Includes nothing else of ours.
#pragma once

#include <time.h>

#include <cstdarg>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#if defined(__x86_64__)
#include <x86intrin.h>
#endif

namespace profshim {

// ---- time
// ------------------------------------------------------------------------------------------------------------

/// A reading of the recording clock: ticks of the processor's counter or CLOCK_MONOTONIC nanoseconds, chosen once per
/// process.
using Ticks = std::uint64_t;

enum class ClockKind : std::uint32_t { kMonotonic = 0, kTsc = 1, kArmCounter = 2 };

/// One moment on all three clocks; every conversion rests on a list of these.
struct Anchor {
  Ticks ticks = 0;
  std::int64_t monotonic_ns = 0;
  std::int64_t realtime_ns = 0;
};

namespace clock_detail {
extern ClockKind kind;  // written once by choose_clock(), before any event is recorded
}

/// The TSC when it is invariant, or Arm's counter, where the kernel itself uses it; else CLOCK_MONOTONIC. Called once,
/// at activation.
ClockKind choose_clock();
/// As traces name it: "monotonic", "tsc", "arm_counter".
const char* name_of(ClockKind kind);
/// For tests: force a clock.
void use_clock(ClockKind kind);

inline std::int64_t monotonic_ns() {
  timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return std::int64_t{t.tv_sec} * 1000000000 + t.tv_nsec;
}
std::int64_t realtime_ns();

/// The hot clock: a register read with a counter, the vDSO otherwise. Any thread.
inline Ticks ticks() {
#if defined(__x86_64__)
  if (__builtin_expect(clock_detail::kind == ClockKind::kTsc, 1)) return __rdtsc();
#elif defined(__aarch64__)
  if (__builtin_expect(clock_detail::kind == ClockKind::kArmCounter, 1)) {
    Ticks now;  // CNTFRQ_EL0 of them in a second
    __asm__ volatile("mrs %0, cntvct_el0" : "=r"(now));
    return now;
  }
#endif
  return static_cast<Ticks>(monotonic_ns());
}

/// The tightest of several readings of the three clocks.
Anchor take_anchor();

/// Nanoseconds since the epoch for a tick, by linear interpolation between neighbouring anchors (sorted by ticks, at
/// least one). Intervals follow CLOCK_MONOTONIC; the offset to the wall clock is that of the first anchor, so that a
/// clock step during the run bends no duration. Whatever the anchors are, a time lies between 1970 and 2262.
class ClockMap {
 public:
  explicit ClockMap(std::vector<Anchor> anchors, ClockKind kind);
  std::int64_t unix_ns(Ticks t) const;
  /// Wall clock minus monotonic clock, last anchor against first: how far the wall clock was stepped or slewed.
  std::int64_t realtime_shift_ns() const;
  /// From first anchor to last; between 0.001 and 1000 whatever they are.
  double ticks_per_ns() const;

 private:
  /// From `ticks` on: `unix_ns` there, and nanoseconds per tick.
  struct Segment {
    Ticks ticks;
    std::int64_t unix_ns;
    double rate;
  };
  std::vector<Anchor> anchors_;
  std::vector<Segment> segments_;
  ClockKind kind_;
  mutable std::size_t last_ = 0;  // conversions come in rising order: start where the last one ended
};

// ---- ranks
// -----------------------------------------------------------------------------------------------------------

/// Who this process is in its job; -1 = not known.
struct Rank {
  int rank = -1;
  int world_size = -1;
  int local_rank = -1;
  int local_world_size = -1;
  int node_rank = -1;
  std::string host;
  std::string source;  // "mpi", "RANK", "OMPI_COMM_WORLD_RANK", ...: where `rank` comes from
};

/// What the environment says (torchrun, Open MPI, PMIx, hydra, PALS, MVAPICH, Flux, JSM, Slurm), in the order of trust.
Rank rank_from_environment();

/// Of a process that `source` has told its rank, where the environment does not (Lightning's): what that says besides,
/// where it speaks of a job of that size.
Rank rank_that_was_told(int rank, int world_size, const char* source);

/// Rank variables that contradict `actual`, as "NAME=value", for one log line.
std::vector<std::string> rank_contradictions(const Rank& actual);

/// The same on all ranks of one job and different for the next job: scheduler job id, MPI namespace, or the start of
/// the launcher. `readable` is what a default run name is made of.
struct JobIdentity {
  std::string key;       // compared
  std::string readable;  // "slurm-4711", "20261121-101502"
  /// Of a job on several hosts that has no number of its own (torchrun with --master-addr): where its ranks meet,
  /// "node1:29500/16". Each host has its own launcher then, and `key` is that host's alone.
  std::string meeting = {};
  std::string host = {};
  std::int64_t started_s = 0;  // of the launcher, since the epoch
};
JobIdentity job_identity();

std::string program_name();  // basename of the executable (or of the script, for an interpreter)
std::string command_line();  // /proc/self/cmdline with blanks
/// Clock ticks since boot at which `pid` started (/proc/PID/stat, field 22); 0 when there is no such process.
std::uint64_t process_start_time(int pid);

// ---- problems and log
// ------------------------------------------------------------------------------------------------

/// A finding with its place, printed as  FILE:LINE:COLUMN: KEY: MESSAGE; HINT
struct Problem {
  enum class Severity : std::uint8_t { kError, kWarning };
  Severity severity = Severity::kError;
  std::string file;  // a path, or "environment", "--set", "PROFSHIM_RANKS", ...
  int line = 0;      // 1-based; 0 = none
  int column = 0;
  std::string key;  // "schedule.active"
  std::string message;
  std::string hint;  // what to do: "did you mean ...", "allowed: ..."
};
std::string to_line(const Problem& problem);

enum class LogLevel : std::uint8_t { kQuiet, kError, kWarn, kInfo, kDebug };

namespace log {
/// Notes which file stderr is, so that a later line never goes into a file the job opened under the same number.
void note_stderr();
void set_level(LogLevel level);
LogLevel level();
/// A file instead of stderr; opened for each line. Empty = stderr.
void set_file(std::string path);
void set_rank(int rank);
/// One write(2) of "profshim: [rank R] text\n". Not for the hot path. Lines above the level are dropped.
[[gnu::format(printf, 2, 3)]] void line(LogLevel level, const char* format, ...);
}  // namespace log

// ---- text and files
// --------------------------------------------------------------------------------------------------

/// Shell-style match of the whole text: * ? [abc] [a-z] [!x]. No allocation, no locale.
bool glob_match(std::string_view pattern, std::string_view text);
/// The characters before the first special one: a cheap first test.
std::string_view glob_literal_prefix(std::string_view pattern);

/// The candidate nearest to `word` by edit distance, or "" when none is near.
std::string_view nearest(std::string_view word, const std::vector<std::string_view>& candidates);

/// "2GiB", "512 MB", "1024": bytes; false when it is none.
bool parse_size(std::string_view text, std::uint64_t& bytes);
std::string format_size(std::uint64_t bytes);

bool read_file(const std::string& path, std::string& text, int& error);
/// mkdir -p; 0 or errno.
int make_folders(const std::string& path);
/// Absolute form without touching the file system beyond getcwd.
std::string absolute_path(const std::string& path);

/// Written under a random hidden name (".NAME.XXXX.tmp") beside its final name and published by rename, so that a
/// reader sees a whole file or none. Nobody can guess the name or have a link wait there. publish(kKeepExisting) fails
/// with EEXIST rather than replace (link(2) + unlink).
class AtomicFile {
 public:
  AtomicFile() = default;
  AtomicFile(const AtomicFile&) = delete;
  AtomicFile& operator=(const AtomicFile&) = delete;
  ~AtomicFile();  // unpublished: the temporary file is removed
  bool open(const std::string& final_path);
  /// `name` below `folder`, for a folder in which others may write: its sub-folders are made, and a link among them is
  /// followed only when it is ours or root's. `folder_fd` >= 0 stands for `folder`, whatever lies at its path now.
  bool open(const std::string& folder, const std::string& name, int folder_fd = -1);
  bool write(const void* data, std::size_t size);
  enum class Existing : std::uint8_t { kReplace, kKeepExisting };
  bool publish(Existing existing);
  std::uint64_t size() const { return size_; }
  int error() const { return error_; }  // errno of the first failure
  /// When it was last written, by the clock of the file system; since the epoch, 0 = not known.
  std::int64_t written_at_ns() const;
  /// It stays the same under the final name; 0 = not known.
  std::uint64_t inode() const;

 private:
  bool create(const std::string& name);

  std::string name_, temporary_;  // in the folder
  int folder_fd_ = -1;
  std::uint64_t size_ = 0;
  int fd_ = -1;
  int error_ = 0;
};

/// A descriptor out of the job's way (close-on-exec, number >= 512 where the limit allows it).
int open_high(const char* path, int flags, unsigned mode = 0666);

inline constexpr std::string_view kVersion = "0.1.0";

}  // namespace profshim
