#pragma once

#include <array>
#include <memory>
#include <string>

#include "proc_file.h"
#include "proc_text.h"
#include "profshim/spec.h"
#include "rate.h"
#include "sample_block.h"
#include "sample_times.h"

namespace profshim::session {

/// Samples what the system knows of the process and the machine, while a window is open. Only the collector thread uses
/// it. Files stay open only while a window is open.
class SystemSampler {
 public:
  explicit SystemSampler(const Spec::System& wanted);

  /// `is_open`: a window is open; `windows`: opened so far.
  void tick(bool is_open, std::uint64_t windows);

 private:
  enum class File : std::uint8_t { kStat, kStatus, kMeminfo, kCgroup, kIo, kNet, kCount };
  static constexpr std::size_t kFiles = static_cast<std::size_t>(File::kCount);

  bool any() const { return wanted_.cpu || wanted_.memory || wanted_.disk || wanted_.net; }
  void begin();
  void end();
  void sample(std::int64_t now_ns);
  void sample_process_cpu(std::int64_t now_ns);
  void sample_machine_cpu();
  void sample_status();
  void sample_machine_memory();
  void sample_cgroup();
  void sample_disk(std::int64_t now_ns);
  void sample_net(std::int64_t now_ns);
  template <class Number>
  void add_if(SystemCounter counter, const std::optional<Number>& value) {
    if (value) block_.add(counter, static_cast<double>(*value));
  }
  ProcFile& file_of(File file) { return files_[static_cast<std::size_t>(file)]; }
  /// Returns "" if the file cannot be read, which the trace then says. `lost`: the counters that are missing.
  std::string_view read(File file, std::string_view lost);
  /// Once for each file.
  void say(File file, std::string_view what, std::string_view lost);

  const Spec::System wanted_;
  SampleTimes times_;
  SampleBlock block_;
  std::array<ProcFile, kFiles> files_;
  std::array<bool, kFiles> said_{};
  Rate process_cpu_, process_system_cpu_, disk_read_, disk_written_, net_received_, net_sent_;
  std::optional<MachineTicks> machine_before_;
  bool is_open_ = false;
  std::uint64_t windows_ = 0;
  std::unique_ptr<std::array<char, 65536>> text_;
};

}  // namespace profshim::session
