#include "unhooked.h"

#include <dlfcn.h>

#include <atomic>
#include <cstddef>
#include <cstdio>
#include <cstring>
#include <iterator>

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

struct Reason {
  const char *matter, *sentence;
};
constexpr Reason kReasons[] = {
    {"dlsym", "the hook calls the function of another library or tool"},
    {"dlmopen", "dlmopen() loaded it"},
    {"deepbind", "RTLD_DEEPBIND has bound it past profshim, and its addresses cannot be changed"},
};
static_assert(std::size(kReasons) == static_cast<std::size_t>(Unhooked::kCount));

void report(const First& first, const Reason& reason) {
  char sentence[512];
  std::snprintf(sentence, sizeof sentence, "calls of %s in %s are not recorded: %s", first.name, first.library,
                reason.sentence);
  session::report_unseen_calls(reason.matter, sentence);
}

}  // namespace

void note_unhooked(Unhooked why, const char* name, const void* function) {
  First& first = firsts[static_cast<std::size_t>(why)];
  if (first.taken.load(std::memory_order_relaxed) || first.taken.exchange(true, std::memory_order_acq_rel)) return;
  Dl_info library = {};
  const bool known = dladdr(function, &library) != 0 && library.dli_fname != nullptr;
  copy(first.library, known ? library.dli_fname : "a library");
  copy(first.name, name);
  first.complete.store(true, std::memory_order_release);  // pairs with report_unhooked()
  if (recorder::mode() != 0) report(first, kReasons[static_cast<std::size_t>(why)]);
}

void report_unhooked() {
  for (std::size_t i = 0; i < static_cast<std::size_t>(Unhooked::kCount); ++i) {
    if (firsts[i].complete.load(std::memory_order_acquire)) report(firsts[i], kReasons[i]);
  }
}

const char* unhooked_library() {
  for (const First& first : firsts) {
    if (first.complete.load(std::memory_order_acquire)) return first.library;
  }
  return nullptr;
}

}  // namespace profshim::inject
