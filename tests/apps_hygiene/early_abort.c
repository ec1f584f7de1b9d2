/* Aborts before any other library's constructor has run: what is preloaded comes after what the program needs, and the
   program's own preinit functions come first of all. */
#include <stdlib.h>

static void too_early(int argc, char** argv, char** environment) {
  (void)argc, (void)argv, (void)environment;
  abort();
}
__attribute__((section(".preinit_array"), used)) static void (*const first)(int, char**, char**) = too_early;

int main(void) { return 0; }
