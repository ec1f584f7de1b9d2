// Records the NCCL version in the trace. It is read when the job creates a communicator: ncclGetVersion returns a
// constant.
#pragma once

#include <cstddef>
#include <cstdio>

namespace profshim::nccl {

/// Text of an NCCL_VERSION_CODE, such as "2.21.5". NCCL 2.9 changed the factors in the code. Empty if it is no version.
struct VersionText {
  char text[24] = {};
};
inline VersionText version_text(int code) {
  constexpr int kFirstWide = 10000;  // from 2.9 on: major * 10000 + minor * 100 + patch
  VersionText version;
  if (code < 1000) return version;
  const int major_unit = code >= kFirstWide ? 10000 : 1000;
  std::snprintf(version.text, sizeof version.text, "%d.%d.%d", code / major_unit, code % major_unit / 100, code % 100);
  return version;
}

/// Call this when the job has created a communicator. `function` is the real function, in the library whose version is
/// recorded. Job's thread; preserves errno; takes the loader's lock.
void note_version(const void* function);
/// Call this when a copy of the NVTX headers registers itself. `get` is a function in the same library. If that library
/// is the only libnccl with NVTX, note_version_by_nvtx() records its version.
void note_nvtx_copy(const void* get);
/// Call this when a communicator is created by a call that passes no hook and is seen only as an NVTX range.
void note_version_by_nvtx();

}  // namespace profshim::nccl
