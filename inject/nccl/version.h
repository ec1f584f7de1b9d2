// Which NCCL the job calls, for the trace. Asked when the job asks for a communicator: NCCL answers with a constant.
#pragma once

#include <cstddef>
#include <cstdio>

namespace profshim::nccl {

/// NCCL_VERSION_CODE as text, "2.21.5": 2.9 gave the parts of the number more room. Empty when it is no version.
struct VersionText {
  char text[24] = {};
};
inline VersionText version_text(int code) {
  constexpr int kFirstWide = 10000;
  VersionText version;
  if (code < 1000) return version;
  const int major_unit = code >= kFirstWide ? 10000 : 1000;
  std::snprintf(version.text, sizeof version.text, "%d.%d.%d", code / major_unit, code % major_unit / 100, code % 100);
  return version;
}

/// The job has asked the library in which `function` lies for a communicator. Job's thread; keeps errno; takes the
/// loader's lock.
void note_version(const void* function);
/// An NVTX copy has attached itself; `get`: a function of it. It speaks for calls that pass no symbol of ours, where it
/// is that of the only libnccl that has one.
void note_nvtx_copy(const void* get);
/// Likewise, for a communicator that such a call has asked for.
void note_version_by_nvtx();

}  // namespace profshim::nccl
