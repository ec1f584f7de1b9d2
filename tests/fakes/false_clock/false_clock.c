// Tells the job a false time, as libfaketime 0.9.10 does (src/libfaketime.c): it replaces the functions below, keeps
// its state in a mapping that its destructor unmaps (ftpl_destroy), and crashes in a later call.
#include <dlfcn.h>
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>

static long* seconds_ahead;

__attribute__((constructor)) static void begin(void) {
  seconds_ahead = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  const char* ahead = getenv("FALSE_CLOCK_AHEAD");
  *seconds_ahead = ahead != NULL ? atol(ahead) : 0;
}
__attribute__((destructor)) static void end(void) { munmap(seconds_ahead, 4096); }

static long ahead(void) { return *(volatile long*)seconds_ahead; }
#define NEXT(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

int clock_gettime(clockid_t clock, struct timespec* t) {
  const int result = NEXT(clock_gettime)(clock, t);
  const int is_faked = clock == CLOCK_REALTIME || clock == CLOCK_MONOTONIC || clock == CLOCK_BOOTTIME;
  if (result == 0 && is_faked) t->tv_sec += ahead();
  return result;
}

// As with a rate ("x1000"): a pause of the job is over at once.
int nanosleep(const struct timespec* duration, struct timespec* rest) {
  return ahead() != 0 ? 0 : NEXT(nanosleep)(duration, rest);
}

int poll(struct pollfd* files, nfds_t count, int timeout) {
  ahead();
  return NEXT(poll)(files, count, timeout);
}

static int shifted(int result, struct stat* s) {
  if (result == 0) s->st_atim.tv_sec += ahead(), s->st_mtim.tv_sec += ahead(), s->st_ctim.tv_sec += ahead();
  return result;
}
int stat(const char* path, struct stat* s) { return shifted(NEXT(stat)(path, s), s); }
int lstat(const char* path, struct stat* s) { return shifted(NEXT(lstat)(path, s), s); }
int fstat(int fd, struct stat* s) { return shifted(NEXT(fstat)(fd, s), s); }

int pthread_cond_clockwait(pthread_cond_t* condition, pthread_mutex_t* mutex, clockid_t clock,
                           const struct timespec* until) {
  struct timespec true_time = *until;
  true_time.tv_sec -= ahead();
  return NEXT(pthread_cond_clockwait)(condition, mutex, clock, &true_time);
}
