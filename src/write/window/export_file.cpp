#include "export_file.h"

#include <cerrno>
#include <cstring>
#include <memory>

#include "profshim/base/text/message_text.h"

namespace profshim::write {
namespace {

std::string name_beside(std::string trace, std::string_view ending) {
  for (const std::string_view of_trace : {".gz", ".json", ".trace", ".pt"}) {
    if (trace.ends_with(of_trace)) trace.erase(trace.size() - of_trace.size());
  }
  return trace.append(ending);
}

}  // namespace

std::string write_export(const Spec& spec, const PublishOptions& options, const std::string& trace,
                         std::string_view ending, const std::function<bool(ByteSink& sink)>& write) {
  const std::string name = name_beside(trace, ending);
  AtomicFile file;
  if (file.open(options.folder, name, options.folder_fd)) {
    const std::unique_ptr<ByteSink> sink = file_sink(file);
    const bool whole = write(*sink);
    if (sink->close() && whole && file.publish(existing(spec))) return name;
    if (options.recovered && file.error() == EEXIST) return name;
  }
  return std::string("failed: ") + error_text(file.error() != 0 ? file.error() : EIO);
}

}  // namespace profshim::write
