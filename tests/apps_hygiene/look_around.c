#include <dirent.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

static int compare(const void* a, const void* b) { return *(const int*)a - *(const int*)b; }

static void list_descriptors(void) {
  int numbers[4096], count = 0;
  DIR* folder = opendir("/proc/self/fd");
  for (struct dirent* entry; folder && (entry = readdir(folder)) != NULL;)
    if (entry->d_name[0] != '.' && atoi(entry->d_name) != dirfd(folder) && count < 4096)
      numbers[count++] = atoi(entry->d_name);
  if (folder) closedir(folder);
  qsort(numbers, (size_t)count, sizeof(int), compare);
  printf("descriptors:");
  for (int i = 0; i < count; ++i) printf(" %d", numbers[i]);
  printf("\n");
}

static int threads(void) {
  int count = 0;
  DIR* folder = opendir("/proc/self/task");
  for (struct dirent* entry; folder && (entry = readdir(folder)) != NULL;) count += entry->d_name[0] != '.';
  if (folder) closedir(folder);
  return count;
}

/* The kernel may still list a joined thread for a moment. */
static int threads_when_down_to(int expected) {
  for (int i = 0; i < 1000 && threads() > expected; ++i) usleep(1000);
  return threads();
}

static void* nothing(void* unused) { return unused; }

int main(void) {
  int ends[2] = {-1, -1};
  list_descriptors();
  const int file = open("/dev/null", O_RDONLY);
  const int piped = pipe(ends);
  printf("open %d, pipe %d: %d %d, dup %d\n", file, piped, ends[0], ends[1], dup(file));
  list_descriptors();

  pthread_t thread;
  const int before = threads();
  printf("threads %d\n", before);
  printf("pthread_create %d\n", pthread_create(&thread, NULL, nothing, NULL));
  pthread_join(thread, NULL);
  printf("threads %d\n", threads_when_down_to(before));

  for (int number = 1; number < NSIG; ++number) {
    struct sigaction action;
    if (sigaction(number, NULL, &action) == 0 && action.sa_handler != SIG_DFL && action.sa_handler != SIG_IGN)
      printf("signal %d has a handler\n", number);
  }
  sigset_t mask;
  sigprocmask(SIG_BLOCK, NULL, &mask);
  for (int number = 1; number < NSIG; ++number)
    if (sigismember(&mask, number) == 1) printf("signal %d is blocked\n", number);

  char name[17] = "";
  prctl(PR_GET_NAME, name);
  printf("name %s, dumpable %d, nice %d, umask %o\n", name, prctl(PR_GET_DUMPABLE), getpriority(PRIO_PROCESS, 0),
         (unsigned)umask(022));
  return 0;
}
