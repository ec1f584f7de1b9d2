#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "observers.h"
#include "profshim/analysis/memory.h"
#include "profshim/analysis/written_trace.h"
#include "profshim/write/publish.h"

namespace profshim::write {

/// The page about memory over time beside a trace (output.export = memory_timeline). Used by the thread that writes the
/// trace.
class MemoryPage {
 public:
  MemoryPage(const Spec& spec, const PublishOptions& options);

  /// Watches the trace while it is written; null if the page is not asked for.
  TraceObserver* observer() { return memory_ ? &memory_->observer() : nullptr; }
  /// Call once the trace has its name. Writes the page, if there are memory events, and notes it in `window`.
  void write(run::ManifestWindow& window);

 private:
  std::string write_page(const std::string& trace);

  const Spec& spec_;
  const PublishOptions& options_;
  std::optional<WrittenMemory> memory_;
};

/// The answers about a window that the spec asks for: [summary], and the exports of key_averages and memory_timeline.
/// Used by the thread that writes the trace.
class WindowAnswers {
 public:
  WindowAnswers(const Spec& spec, const PublishOptions& options);

  /// Watches the trace while it is written; null if nothing is asked for.
  TraceObserver* observer() { return observers_.empty() ? nullptr : &observers_; }
  /// Call once the trace has its name. Writes the files and notes them in `window`.
  void write(int rank, run::ManifestWindow& window);

 private:
  std::string why_not();
  const KeyTable& table();
  std::string json(const run::ManifestWindow& window);
  void write_summary(int rank, run::ManifestWindow& window);
  void write_tables(run::ManifestWindow& window);
  std::string printed(const run::ManifestWindow& window);

  const Spec& spec_;
  const PublishOptions& options_;
  std::optional<WrittenTrace> trace_;
  std::optional<KeyTable> table_;
  MemoryPage memory_page_;
  Observers observers_;
};

}  // namespace profshim::write
