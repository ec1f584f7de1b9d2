#include "memory_page.h"

#include <exception>
#include <string>

#include "export_file.h"

namespace profshim::write {

MemoryPage::MemoryPage(const Spec& spec, const PublishOptions& options) : spec_(spec), options_(options) {
  if (spec.output.memory_timeline) memory_.emplace(options.memory_page_bytes);
}

std::string MemoryPage::write_page(const std::string& trace) {
  const std::string page = report_page(memory_->report());
  return write_export(spec_, options_, trace, ".memory.html",
                      [&](ByteSink& sink) { return sink.write(page.data(), page.size()); });
}

void MemoryPage::write(run::ManifestWindow& window) {
  if (!memory_) return;
  const std::string why = memory_->has_begun() ? memory_->why_not() : "a killed process wrote the trace";
  try {
    if (!why.empty()) {
      window.memory_page = "failed: " + why;
    } else if (memory_->has_events()) {
      window.memory_page = write_page(window.file);
    }
  } catch (const std::exception& error) {
    window.memory_page = std::string("failed: ") + error.what();
  }
}

}  // namespace profshim::write
