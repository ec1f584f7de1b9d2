#include "profshim/base/process/process_words.h"

#include <pthread.h>
#include <sys/mman.h>

#ifndef MADV_WIPEONFORK
#define MADV_WIPEONFORK 18
#endif

namespace profshim {

constinit ProcessWords process_words;

bool clear_words_in_children() {
  if (madvise(&process_words, sizeof process_words, MADV_WIPEONFORK) == 0) return true;
  pthread_atfork(nullptr, nullptr, [] {
    process_words.mode = 0;
    process_words.phase = session::Phase{};
    process_words.is_known = process_words.is_leaving = process_words.has_block = false;
  });
  return false;
}

}  // namespace profshim
