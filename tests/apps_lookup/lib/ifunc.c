// Its IFUNC resolver calls dlsym(). Linked with -z now, it runs before the loader has relocated preloaded libraries.
#include <dlfcn.h>

// A variable, so that the loader fills it in before it runs the resolver.
static void* (*const volatile look_up)(void*, const char*) = dlsym;

typedef int Chosen(void);
static int one(void) { return 1; }
static int zero(void) { return 0; }
static Chosen* resolve(void) { return look_up(RTLD_DEFAULT, "getpid") ? one : zero; }
int chosen(void) __attribute__((ifunc("resolve")));
int call_chosen(void);
int call_chosen(void) { return chosen(); }
