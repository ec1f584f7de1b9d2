// Finds trace files by their names and by the manifests that name them.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace profshim::cli {

/// Returns true if the name ends in .pt.trace.json or .pt.trace.json.gz and is not hidden. A hidden file is still being
/// written.
bool is_trace_name(std::string_view name);

/// Returns all traces below a folder, sorted: regular files and links with the name of a trace, and files that a
/// manifest names (output.filename may be "trace.json"). Adds a line to `unread` for each folder that cannot be read.
std::vector<std::string> traces_below(const std::string& folder, std::vector<std::string>& unread);

/// Collects the traces of a command line: files, and folders to search. A file given twice is added once. Returns false
/// if a path is missing, a folder holds no traces, or a folder cannot be read, after printing the reason to stderr.
bool collect_traces(const std::vector<std::string>& paths, std::vector<std::string>& files);

/// Returns a key that all files of one window share: the folder and the number before .pt.trace.json. For other names
/// it comes from the manifest.
std::string window_of(const std::string& path);

}  // namespace profshim::cli
