#pragma once

#include <cstddef>
#include <string_view>

namespace profshim {

/// Removes version and stream suffixes: "cudaMemcpyAsync" for "cudaMemcpyAsync_ptsz_v7000", "cudaLaunchKernel" for
/// "__cudaLaunchKernel_v13000". Keeps "_v2": cudaStreamGetCaptureInfo_v2 is a separate function.
constexpr std::string_view plain_api_name(std::string_view name) {
  if (name.starts_with("__cuda")) name.remove_prefix(2);
  const std::size_t last = name.find_last_not_of("0123456789");
  if (last != std::string_view::npos && last >= 1 && name.size() - last - 1 >= 4 && name.substr(last - 1, 2) == "_v") {
    name = name.substr(0, last - 1);
  }
  for (const std::string_view suffix : {"_ptsz", "_ptds"}) {
    if (name.ends_with(suffix)) name.remove_suffix(suffix.size());
  }
  return name;
}

}  // namespace profshim
