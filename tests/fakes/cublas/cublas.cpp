// A library with a static CUDA runtime in it, as cuBLAS is (mechanics of libcublas 13.0: it imports no cuda* symbol).
// Its kernels are launched by the functions that cuGetProcAddress returned. FAKE_CUBLAS_CUDART: version of that
// runtime.
#include "fakes/cudart/driver.h"
#include "fakes/environment.h"

#define EXPORT extern "C" __attribute__((visibility("default")))

namespace {

struct Handle {
  void* stream = nullptr;
  void* kernel = nullptr;
};

const fake::cudart::Driver& driver() {
  static const fake::cudart::Driver instance(static_cast<int>(fake::number("FAKE_CUBLAS_CUDART", 13000)));
  return instance;
}

}  // namespace

EXPORT int cublasCreate_v2(Handle** handle) {
  if (!driver().launch || driver().init(0) != 0) return 1;  // CUBLAS_STATUS_NOT_INITIALIZED
  void* context = nullptr;
  driver().retain_context(&context, 0);
  driver().set_context(context);
  *handle = new Handle{nullptr, driver().function_named("sgemm_32x32x64_nn")};
  return 0;
}
EXPORT int cublasDestroy_v2(Handle* handle) {
  delete handle;
  return 0;
}
EXPORT int cublasSetStream_v2(Handle* handle, void* stream) {
  handle->stream = stream;
  return 0;
}
/// cudaStreamPerThread (2) goes to the driver's function for it.
EXPORT int cublasSgemm_v2(Handle* handle, int, int, int m, int n, int, const float*, const float*, int, const float*,
                          int, const float*, float*, int) {
  auto* const launch = handle->stream == reinterpret_cast<void*>(2) ? driver().launch_per_thread : driver().launch;
  const auto blocks = [](int size) { return static_cast<unsigned>(size + 31) / 32; };
  return launch(handle->kernel, blocks(m), blocks(n), 1, 32, 1, 1, 0, nullptr, nullptr, nullptr) == 0 ? 0 : 13;
}
/// The workspace of a large product; CUBLAS_STATUS_ALLOC_FAILED.
EXPORT int cublasSetWorkspace_v2(Handle*, void*, std::size_t bytes) {
  void* address = nullptr;
  return driver().allocate(&address, bytes) == 0 ? 0 : 3;
}
