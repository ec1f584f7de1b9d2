// This program contains the CUDA hooks and the session (src/session). STUB: the library that the hooks call, or "none".
//   cuda_calls STUB every             every function, recorded
//   cuda_calls STUB idle              every function, not recorded
//   cuda_calls STUB ranges LETTERS    S, P = cudaProfilerStart, Stop; D, O = the driver's; c = cudaMemcpy
//   cuda_calls STUB kernels NAME...   notes a launch of each NAME ("graph" = a graph) and a cudaMemcpy after it
#include <dlfcn.h>

#include <cstdio>
#include <cstring>
#include <string>

#include "inject/core/macros.h"
#include "inject/cuda/abi.h"
#include "inject/cuda/hooks.h"
#include "profshim/recorder_control.h"
#include "profshim/session.h"

#define CUDA_PARAMETER(A, a) ::profshim::cuda::A a
#define HOOK(name, shown, describer, ...) extern "C" int name(MPI_EACH(CUDA_PARAMETER, __VA_ARGS__));
#include "profshim/hooks/cuda.def"
#undef HOOK

/// Like nvcc's host functions, this "kernel" has a name that dladdr() finds.
extern "C" __attribute__((visibility("default"))) void exported_kernel() {}

namespace {

using namespace profshim;

int failed = 0;
int first_calls = 0;
alignas(16) char block[256];

template <class T>
T argument() {
  if constexpr (std::is_same_v<T, void*>) {
    return block;
  } else if constexpr (std::is_same_v<T, cuda::Dim3>) {
    return {1, 1, 1};
  } else if constexpr (std::is_same_v<T, int>) {
    return 1;
  } else {
    return 32;
  }
}
template <class... A>
void call(int (*function)(A...)) {
  failed += function(argument<A>()...) != 0 ? 1 : 0;
}
void note(int result) { failed += result != 0 ? 1 : 0; }

void call_every_function() {
#define HOOK(name, ...) call(&name);
#include "profshim/hooks/cuda.def"
#undef HOOK
  note(cudaLaunchKernel(reinterpret_cast<void*>(&exported_kernel), {1, 1, 1}, {1, 1, 1}, nullptr, 0, nullptr));
  note(cudaLaunchKernel(reinterpret_cast<void*>(&exported_kernel), {1, 1, 1}, {1, 1, 1}, nullptr, 0, nullptr));
}

void copy() { note(cudaMemcpy(block, block + 64, 64, cuda::kHostToDevice)); }

void play_ranges(const char* letters) {
  for (; *letters != 0; ++letters) {
    switch (*letters) {
      case 'S':
        note(cudaProfilerStart());
        break;
      case 'P':
        note(cudaProfilerStop());
        break;
      case 'D':
        note(cuProfilerStart());
        break;
      case 'O':
        note(cuProfilerStop());
        break;
      default:
        copy();
        break;
    }
  }
}

void play_kernels(int count, char** names) {
  for (int i = 0; i < count; ++i) {
    if (std::strcmp(names[i], "graph") == 0) {
      session::on_graph_launch();
    } else {
      session::on_kernel_launch(names[i], ticks());
    }
    copy();
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) return 2;
  long (*stub_calls)() = nullptr;
  if (std::strcmp(argv[1], "none") != 0) {
    void* const stub = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);
    if (stub == nullptr) return std::fprintf(stderr, "%s\n", dlerror()), 2;
    stub_calls = reinterpret_cast<long (*)()>(dlsym(stub, "stub_calls"));
  }
  if (!session::requested()) return 2;
  cuda::on_first_call(nullptr, [] { ++first_calls; });
  Rank rank;
  rank.rank = 0;
  rank.world_size = 1;
  rank.source = "test";
  session::activate(rank);
  const std::string what = argv[2];
  if (what != "idle") recorder::set_mode(recorder::kCudaCalls, 0);
  if (what == "ranges" && argc > 3) {
    play_ranges(argv[3]);
  } else if (what == "kernels") {
    play_kernels(argc - 3, argv + 3);
  } else {
    call_every_function();
  }
  std::printf("{\"failed\": %d, \"stub\": %ld, \"first_calls\": %d}\n", failed,
              stub_calls != nullptr ? stub_calls() : 0, first_calls);
  return 0;
}
