/* A preinit function runs before the constructors of all libraries, also of preloaded ones. */
#include <stdlib.h>

static void too_early(int argc, char** argv, char** environment) {
  (void)argc, (void)argv, (void)environment;
  abort();
}
__attribute__((section(".preinit_array"), used)) static void (*const first)(int, char**, char**) = too_early;

int main(void) { return 0; }
