// The windows that the writer has written, and the manifest that lists them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "profshim/run/manifest.h"
#include "profshim/spool/view.h"
#include "profshim/write/writer.h"

namespace profshim::write {

/// The writer thread uses it and, once that has ended, the thread that ends the recording.
class WrittenWindows {
 public:
  /// A restarted process continues the earlier process's list of windows.
  WrittenWindows(const WritePlan& plan, const spool::View& view);

  /// Adds a window of this process, or of a killed one of the same rank and run.
  void add(run::ManifestWindow window);
  /// Applies output.num_traces_to_keep and output.keep_bytes: writes the manifest, then removes the files.
  void remove_old();
  /// Takes `gone` out of the manifest and writes it, then removes their files.
  void remove(const std::vector<run::ManifestWindow>& gone);

  /// Counts a window of this process: written, empty or failed.
  void count(const run::ManifestWindow& window);
  void count_discarded() { ++manifest_.counts.discarded; }
  void count_without_step() { ++ended_.without_step; }
  std::uint64_t failed() const { return ended_.failed; }

  const std::vector<run::ManifestWindow>& all() const { return manifest_.windows; }
  std::vector<run::ManifestWindow>& all() { return manifest_.windows; }
  const run::Manifest& manifest() const { return manifest_; }
  /// `outcome` of finish.command: see run::Manifest::finish.
  void set_finish(const std::string& outcome) { manifest_.finish = outcome; }
  void forget_spool() { manifest_.spool.clear(); }

  /// Writes the manifest as it is.
  void save();
  /// Writes the manifest with what the spool tells now. `state`: see run::Manifest.
  void save(const char* state);
  /// Nanoseconds that save(state) took.
  std::int64_t saving_ns() const { return saving_ns_; }

  Outcome outcome() const;

 private:
  void finish_removal(const std::vector<run::ManifestWindow>& gone);

  const WritePlan& plan_;
  const spool::View& view_;
  run::Manifest manifest_;
  Outcome ended_;
  std::int64_t saving_ns_ = 0;
};

}  // namespace profshim::write
