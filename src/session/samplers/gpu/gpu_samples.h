#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

#include "nvml.h"
#include "session/samplers/sample_block.h"
#include "visible_devices.h"

namespace profshim::session {

/// Samples the GPUs of the job. A call of NVML may take milliseconds, or hang if a GPU is broken: only the GPU
/// sampler's thread uses it.
class GpuSamples {
 public:
  /// Does nothing before the job has called cuInit, and if NVML does not work.
  void take();

 private:
  enum class Value : std::uint8_t { kHandle, kUtilization, kMemory, kSmClock, kMemoryClock, kPower, kCount };
  enum class State : std::uint8_t { kNoCuda, kWorks, kFailed };

  void start();
  void sample(const VisibleDevice& device);
  void sample_clock(const VisibleDevice& device, Value value, int type, SystemCounter counter);
  /// Returns true for success; otherwise the trace says once for each device that `value` is missing.
  bool worked(const VisibleDevice& device, Value value, int result);
  void say(std::string_view what);

  static constexpr int kNoFunction = -1;
  State state_ = State::kNoCuda;
  Nvml nvml_;
  std::vector<VisibleDevice> devices_;
  std::vector<std::array<bool, static_cast<std::size_t>(Value::kCount)>> said_;
  SampleBlock block_;
};

}  // namespace profshim::session
