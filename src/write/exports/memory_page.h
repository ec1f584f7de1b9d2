#pragma once

#include <optional>

#include "profshim/analysis/memory.h"
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

}  // namespace profshim::write
