#include "gpu_samples.h"

#include <string>

namespace profshim::session {
namespace {

// In the order of GpuSamples::Value.
constexpr const char* kValues[] = {"counters", "utilization", "memory", "SM clock", "memory clock", "power"};

}  // namespace

void GpuSamples::take() {
  if (state_ == State::kNoCuda) start();
  if (state_ != State::kWorks) return;
  block_.set_time(ticks());
  for (const VisibleDevice& device : devices_) sample(device);
}

void GpuSamples::start() {
  if (!uses_cuda()) return;
  std::string why_not;
  if (!nvml_.open(why_not)) {
    state_ = State::kFailed;
    return say("the counters of the GPUs cannot be shown: " + why_not);
  }
  devices_ = visible_devices(nvml_);
  said_.resize(devices_.size());
  state_ = State::kWorks;
}

void GpuSamples::sample(const VisibleDevice& device) {
  if (device.handle == nullptr) {
    worked(device, Value::kHandle, kNoFunction);
    return;
  }
  Nvml::Utilization use{};
  if (worked(device, Value::kUtilization, nvml_.utilization ? nvml_.utilization(device.handle, &use) : kNoFunction))
    block_.add(SystemCounter::kGpuUse, use.gpu, device.number);
  Nvml::Memory memory{};
  if (worked(device, Value::kMemory, nvml_.memory ? nvml_.memory(device.handle, &memory) : kNoFunction))
    block_.add(SystemCounter::kGpuMemory, static_cast<double>(memory.used), device.number);
  sample_clock(device, Value::kSmClock, Nvml::kSmClock, SystemCounter::kGpuSmClock);
  sample_clock(device, Value::kMemoryClock, Nvml::kMemoryClock, SystemCounter::kGpuMemoryClock);
  unsigned milliwatts = 0;
  if (worked(device, Value::kPower, nvml_.power ? nvml_.power(device.handle, &milliwatts) : kNoFunction))
    block_.add(SystemCounter::kGpuPower, milliwatts / 1000.0, device.number);
}

void GpuSamples::sample_clock(const VisibleDevice& device, Value value, int type, SystemCounter counter) {
  unsigned mhz = 0;
  if (worked(device, value, nvml_.clock ? nvml_.clock(device.handle, type, &mhz) : kNoFunction))
    block_.add(counter, mhz, device.number);
}

bool GpuSamples::worked(const VisibleDevice& device, Value value, int result) {
  if (result == Nvml::kSuccess) return true;
  bool& said = said_[device.number][static_cast<std::size_t>(value)];
  if (said) return false;
  said = true;
  const std::string reason = value == Value::kHandle ? "NVML does not know this GPU"
                             : result == kNoFunction ? "this NVML lacks the function"
                                                     : nvml_.reason(result);
  say("the " + std::string(kValues[static_cast<std::size_t>(value)]) + " of GPU " + std::to_string(device.number) +
      " cannot be shown: " + reason);
  return false;
}

void GpuSamples::say(std::string_view what) { recorder::missing("system", what); }

}  // namespace profshim::session
