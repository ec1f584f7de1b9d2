#include "visible_devices.h"

#include <dlfcn.h>

#include <algorithm>
#include <array>

namespace profshim::session {
namespace {

// The functions as cuda.h of CUDA 11.4 and later declares them.
struct Cuda {
  int (*count)(int*) = nullptr;
  int (*device)(int*, int number) = nullptr;
  int (*uuid)(unsigned char (*)[16], int device) = nullptr;
  int (*pci_bus_id)(char*, int length, int device) = nullptr;
};

template <class Function>
void look_up(void* library, const char* name, Function& function) {
  function = reinterpret_cast<Function>(dlsym(library, name));
}

// The count is 0 before cuInit.
int count_of(const Cuda& cuda) {
  int count = 0;
  return cuda.count != nullptr && cuda.count(&count) == 0 ? std::min(count, 1024) : 0;
}

Cuda loaded_cuda() {
  Cuda cuda;
  void* const library = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_NOLOAD);
  if (library == nullptr) return cuda;
  look_up(library, "cuDeviceGetCount", cuda.count);
  look_up(library, "cuDeviceGet", cuda.device);
  look_up(library, "cuDeviceGetUuid_v2", cuda.uuid);
  look_up(library, "cuDeviceGetPCIBusId", cuda.pci_bus_id);
  dlclose(library);  // the job keeps it
  return cuda;
}

std::string text_of(const unsigned char (&uuid)[16]) {
  constexpr char kDigits[] = "0123456789abcdef";
  std::string text;
  for (std::size_t i = 0; i < sizeof uuid; ++i) {
    if (i == 4 || i == 6 || i == 8 || i == 10) text += '-';
    text += kDigits[uuid[i] >> 4];
    text += kDigits[uuid[i] & 15];
  }
  return text;
}

// cuDeviceGetUuid_v2 returns the UUID of an instance (MIG) if the device is one. NVML knows both by their prefix.
Nvml::Device handle_of(const Nvml& nvml, const Cuda& cuda, int device) {
  Nvml::Device handle = nullptr;
  unsigned char uuid[16] = {};
  if (cuda.uuid != nullptr && nvml.handle_by_uuid != nullptr && cuda.uuid(&uuid, device) == 0) {
    for (const char* const prefix : {"GPU-", "MIG-"}) {
      if (nvml.handle_by_uuid((prefix + text_of(uuid)).c_str(), &handle) == Nvml::kSuccess) return handle;
    }
  }
  std::array<char, 32> bus_id{};
  if (cuda.pci_bus_id == nullptr || nvml.handle_by_pci_bus_id == nullptr ||
      cuda.pci_bus_id(bus_id.data(), static_cast<int>(bus_id.size()), device) != 0)
    return nullptr;
  return nvml.handle_by_pci_bus_id(bus_id.data(), &handle) == Nvml::kSuccess ? handle : nullptr;
}

}  // namespace

bool uses_cuda() { return count_of(loaded_cuda()) > 0; }

std::vector<VisibleDevice> visible_devices(const Nvml& nvml) {
  const Cuda cuda = loaded_cuda();
  std::vector<VisibleDevice> found;
  const int count = count_of(cuda);
  for (int i = 0; i < count; ++i) {
    int device = 0;
    const bool known = cuda.device != nullptr && cuda.device(&device, i) == 0;
    found.push_back({static_cast<std::uint16_t>(i), known ? handle_of(nvml, cuda, device) : nullptr});
  }
  return found;
}

}  // namespace profshim::session
