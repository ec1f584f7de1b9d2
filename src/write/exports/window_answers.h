#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "memory_page.h"
#include "observers.h"
#include "profshim/analysis/written_trace.h"
#include "profshim/write/publish.h"

namespace profshim::write {

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
