#include "profshim/base/threads/start_thread.h"

#include <signal.h>

#include <cstddef>

namespace profshim {

int start_thread(pthread_t& thread, void* (*body)(void*), void* argument) {
  constexpr std::size_t kStack = 1 << 20;
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  pthread_attr_t attributes;
  if (const int refused = pthread_attr_init(&attributes); refused != 0) return refused;
  pthread_attr_setstacksize(&attributes, kStack);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  const int refused = pthread_create(&thread, &attributes, body, argument);
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  pthread_attr_destroy(&attributes);
  return refused;
}

}  // namespace profshim
