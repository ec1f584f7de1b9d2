#include <cstring>

#include "fakes/cudart/runtime.h"

using namespace fake::cudart;

namespace {

constexpr std::size_t kPropertiesBytes =
    FAKE_CUDART_VERSION >= 13000 ? 1008 : (FAKE_CUDART_VERSION >= 12000 ? 1032 : 728);

/// Sets only the fields of cudaDeviceProp that programs print.
void fill_properties(char* out, int ordinal) {
  const auto put = [&](std::size_t offset, auto value) { std::memcpy(out + offset, &value, sizeof value); };
  std::memset(out, 0, kPropertiesBytes);
  std::strcpy(out, "Fake GPU");
  out[256] = static_cast<char>(ordinal + 1);                            // uuid
  put(288, std::size_t{80} << 30);                                      // totalGlobalMem
  put(296, std::size_t{48} << 10);                                      // sharedMemPerBlock
  put(304, 65536);                                                      // regsPerBlock
  put(308, 32);                                                         // warpSize
  put(320, 1024);                                                       // maxThreadsPerBlock
  for (const int i : {0, 1, 2}) put(324 + 4u * i, i == 2 ? 64 : 1024);  // maxThreadsDim
  for (const int i : {0, 1, 2}) put(336 + 4u * i, i == 0 ? 0x7fffffff : 65535);
  put(352, std::size_t{65536});                        // totalConstMem
  put(360, 9);                                         // major; minor is 0
  put(FAKE_CUDART_VERSION >= 13000 ? 384 : 388, 132);  // multiProcessorCount
  if (FAKE_CUDART_VERSION >= 13000) {
    put(588, 1);                       // unifiedAddressing
    put(604, 2048);                    // maxThreadsPerMultiProcessor
    put(624, std::size_t{228} << 10);  // sharedMemPerMultiprocessor
    put(632, 65536);                   // regsPerMultiprocessor
    put(636, 1);                       // managedMemory
    put(672, std::size_t{227} << 10);  // sharedMemPerBlockOptin
  }
}

}  // namespace

EXPORT int cudaGetDeviceCount(int* count) {
  *count = 0;
  CALL("cudaGetDeviceCount_v3020", 3);
  *count = device.device_count();
  return leave(call, 0);
}
EXPORT int cudaGetDevice(int* ordinal) {
  CALL("cudaGetDevice_v3020", 17);
  *ordinal = device.current_device();
  return leave(call, 0);
}
EXPORT int cudaSetDevice(int ordinal) {
  CALL("cudaSetDevice_v3020", 16);
  return leave(call, device.set_device(ordinal));
}
EXPORT int cudaDeviceSynchronize() {
  CALL("cudaDeviceSynchronize_v3020", 165);
  return leave(call, device.synchronize_device());
}
EXPORT int cudaDeviceReset() {
  CALL("cudaDeviceReset_v3020", 164);
  return leave(call, device.reset());
}
EXPORT int cudaGetDeviceProperties(char* properties, int ordinal) {
  CALL("cudaGetDeviceProperties_v3020", 4);
  if (ordinal < 0 || ordinal >= device.device_count()) return leave(call, fake::kInvalidDevice);
  fill_properties(properties, ordinal);
  return leave(call, 0);
}
#if FAKE_CUDART_VERSION >= 12000 && FAKE_CUDART_VERSION < 13000
EXPORT int cudaGetDeviceProperties_v2(char* properties, int ordinal) {
  CALL("cudaGetDeviceProperties_v12000", 440);
  if (ordinal < 0 || ordinal >= device.device_count()) return leave(call, fake::kInvalidDevice);
  fill_properties(properties, ordinal);
  return leave(call, 0);
}
#endif
EXPORT int cudaDeviceGetAttribute(int* value, int attribute, int ordinal) {
  CALL("cudaDeviceGetAttribute_v5000", 200);
  if (ordinal < 0 || ordinal >= device.device_count()) return leave(call, fake::kInvalidDevice);
  switch (attribute) {
    case 1:
      *value = 1024;
      break;  // threads per block
    case 10:
      *value = 32;
      break;  // warp size
    case 16:
      *value = 132;
      break;  // multiprocessors
    case 39:
      *value = 2048;
      break;  // threads per multiprocessor
    case 41:
      *value = 1;
      break;  // unified addressing
    case 75:
      *value = 9;
      break;  // compute capability
    case 83:
      *value = 1;
      break;  // managed memory
    case 95:
      *value = 1;
      break;  // cooperative launch
    case 115:
      *value = 1;
      break;  // memory pools
    default:
      *value = 0;
      break;
  }
  return leave(call, 0);
}
EXPORT int cudaDeviceCanAccessPeer(int* can, int, int) {
  CALL("cudaDeviceCanAccessPeer_v4000", 154);
  *can = 1;
  return leave(call, 0);
}
EXPORT int cudaDeviceEnablePeerAccess(int, unsigned) {
  CALL("cudaDeviceEnablePeerAccess_v4000", 155);
  return leave(call, 0);
}
EXPORT int cudaDeviceGetStreamPriorityRange(int* least, int* greatest) {
  CALL("cudaDeviceGetStreamPriorityRange_v5050", 205);
  *least = 0;
  *greatest = -5;
  return leave(call, 0);
}
EXPORT int cudaDriverGetVersion(int* version) {
  fake::Device* const device = fake::device_or_null();
  *version = device ? device->driver_version() : 0;
  return 0;
}
EXPORT int cudaRuntimeGetVersion(int* version) {
  *version = FAKE_CUDART_VERSION;
  return 0;
}
