// Before glibc 2.34, __libc_start_main() expects a function that runs the program's constructors; newer start code
// passes none. The loader runs .preinit_array and .fini_array. For `make portable`.
namespace {

using Function = void (*)(int, char**, char**);
extern "C" {
extern const Function __init_array_start[] __attribute__((visibility("hidden")));
extern const Function __init_array_end[] __attribute__((visibility("hidden")));
void _init();

using Main = int (*)(int, char**, char**);
int oldest_start_main(Main main, int count, char** arguments, Function constructors, void (*destructors)(),
                      void (*loader_end)(), void* stack_end);
}

#if defined(__x86_64__)
__asm__(".symver oldest_start_main, __libc_start_main@GLIBC_2.2.5");
#else
__asm__(".symver oldest_start_main, __libc_start_main@GLIBC_2.17");
#endif

void run_constructors(int count, char** arguments, char** environment) {
  _init();
  for (const Function* each = __init_array_start; each != __init_array_end; ++each) {
    (*each)(count, arguments, environment);
  }
}

}  // namespace

/// `loader_end` runs the destructors.
extern "C" __attribute__((visibility("hidden"))) int __libc_start_main(Main main, int count, char** arguments, Function,
                                                                       void (*)(), void (*loader_end)(),
                                                                       void* stack_end) {
  return oldest_start_main(main, count, arguments, run_constructors, nullptr, loader_end, stack_end);
}
