/* Aborts before the constructor of any library has run: preinit functions of the program run first, then the
   constructors of the libraries that it needs, then those of preloaded libraries. */
#include <stdlib.h>

static void too_early(int argc, char** argv, char** environment) {
  (void)argc, (void)argv, (void)environment;
  abort();
}
__attribute__((section(".preinit_array"), used)) static void (*const first)(int, char**, char**) = too_early;

int main(void) { return 0; }
