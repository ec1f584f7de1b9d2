#include "unhooked.h"

#include <dlfcn.h>

#include <atomic>
#include <cstddef>
#include <cstdio>
#include <cstring>

#include "profshim/recorder.h"
#include "profshim/session.h"

namespace profshim::inject {
namespace {

/// The first lookup of a kind.
struct First {
  std::atomic<bool> taken{false}, complete{false};
  char name[64] = {}, library[256] = {};
};
constinit First firsts[static_cast<std::size_t>(Unhooked::kCount)];

template <std::size_t n>
void copy(char (&to)[n], const char* from) {
  const std::size_t length = strnlen(from, n - 1);
  std::memcpy(to, from, length);
  to[length] = '\0';
}

void report(const First& first, Unhooked why) {
  const bool by_namespace = why == Unhooked::kOtherNamespace;
  char sentence[512];
  std::snprintf(sentence, sizeof sentence, "calls of %s and others in %s, found by dlsym(), are not recorded: %s",
                first.name, first.library,
                by_namespace ? "dlmopen() loaded it" : "the hooks call the function of another library of this name");
  session::report_unseen_calls(by_namespace ? "dlmopen" : "dlsym", sentence);
}

}  // namespace

void note_unhooked(Unhooked why, const char* name, const void* function) {
  First& first = firsts[static_cast<std::size_t>(why)];
  if (first.taken.exchange(true, std::memory_order_acq_rel)) return;
  Dl_info library = {};
  const bool known = dladdr(function, &library) != 0 && library.dli_fname != nullptr;
  copy(first.library, known ? library.dli_fname : "a library");
  copy(first.name, name);
  first.complete.store(true, std::memory_order_release);  // pairs with report_unhooked()
  if (recorder::mode() != 0) report(first, why);
}

void report_unhooked() {
  for (std::size_t i = 0; i < static_cast<std::size_t>(Unhooked::kCount); ++i) {
    if (firsts[i].complete.load(std::memory_order_acquire)) report(firsts[i], static_cast<Unhooked>(i));
  }
}

}  // namespace profshim::inject
