#include "fuzz/manifest_fuzz.h"

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size) {
  profshim::test::fuzz_manifest({reinterpret_cast<const char*>(data), size});
  return 0;
}
