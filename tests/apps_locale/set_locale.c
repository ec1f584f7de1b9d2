// Preloaded into programs that never call setlocale(): they run in the locale of the environment, as Python, Qt and GTK
// do.
#include <locale.h>

__attribute__((constructor)) static void set_locale(void) { setlocale(LC_ALL, ""); }
