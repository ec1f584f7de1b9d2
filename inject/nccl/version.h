#pragma once

#include <cstddef>
#include <cstdio>

namespace profshim::nccl {

/// An NCCL_VERSION_CODE as "2.21.5"; empty if invalid.
struct VersionText {
  char text[24] = {};
};
inline VersionText version_text(int code) {
  constexpr int kFirstWide = 10000;  // since 2.9: major * 10000 + minor * 100 + patch
  VersionText version;
  if (code < 1000) return version;
  const int major_unit = code >= kFirstWide ? 10000 : 1000;
  std::snprintf(version.text, sizeof version.text, "%d.%d.%d", code / major_unit, code % major_unit / 100, code % 100);
  return version;
}

/// `function`: any function of the NCCL library. Job's thread; takes the loader's lock.
void note_version(const void* function);
/// Call when a library registers with NVTX. `get`: a function in that library.
void note_nvtx_copy(const void* get);
/// Records the version if only one libnccl has registered with NVTX.
void note_version_by_nvtx();

}  // namespace profshim::nccl
