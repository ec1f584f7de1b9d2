// dl_iterate_phdr(), and dlopen() of a file that is not loaded yet, take a lock of glibc that fork() leaves as it is
// (GL(dl_load_write_lock); posix/fork.c of glibc 2.36 resets others). If another thread holds it, the child hangs at
// its next such call. The job may have no other thread than ours. So forks wait for our calls, and our calls for forks,
// a second at most in the life of a process: a fork in a constructor of a file would else wait for itself.
#pragma once

#include <link.h>

#include <cstddef>

namespace profshim {

/// While it lives, fork() waits, on other threads. Hold it only briefly: our threads may have a low priority. Any
/// thread; allocates nothing; may be nested.
class ForksWait {
 public:
  ForksWait();
  ~ForksWait();
  ForksWait(const ForksWait&) = delete;
  ForksWait& operator=(const ForksWait&) = delete;
};

/// As dl_iterate_phdr(), which nothing else of ours may call (scripts/check_statics.sh).
int visit_loaded_files(int (*visit)(dl_phdr_info*, std::size_t, void*), void* argument);

/// Call once, before any other thread of ours starts.
void make_forks_wait();

}  // namespace profshim
