// Trace files on disk, by their names and by the manifests that name them.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace profshim::cli {

/// Ends in .pt.trace.json or .pt.trace.json.gz and is not hidden (a hidden one is still being written).
bool is_trace_name(std::string_view name);

/// All traces below a folder, sorted: by their names, and what the manifests there name (output.filename may be
/// "trace.json"). Folders that cannot be read: one line each into `unread`. What only bears such a
/// name (a folder, a pipe) is none; a link is one, wherever it leads.
std::vector<std::string> traces_below(const std::string& folder, std::vector<std::string>& unread);

/// The traces of a command line, files and folders to search; a file named twice is one. False when some cannot be had:
/// it was said on stderr which.
bool collect_traces(const std::vector<std::string>& paths, std::vector<std::string>& files);

/// Folder and the number before .pt.trace.json, or what the manifest says where the name ends in something else: the
/// files of one window have it in common.
std::string window_of(const std::string& path);

}  // namespace profshim::cli
