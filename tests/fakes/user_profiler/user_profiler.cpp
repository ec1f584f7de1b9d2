// The job's own NCCL profiler plugin. Logs init, finalize and each collective to USER_PROFILER_LOG.
// USER_PROFILER_VERSION (4 or 5) selects the plugin's interface.
#include <cstdint>
#include <cstdio>
#include <cstdlib>

namespace {

constexpr std::uint64_t kColl = 2;

void say(const char* line) {
  const char* const path = std::getenv("USER_PROFILER_LOG");
  std::FILE* const file = path != nullptr ? std::fopen(path, "a") : nullptr;
  if (file == nullptr) return;
  std::fprintf(file, "%s\n", line);
  std::fclose(file);
}

char something;

#if USER_PROFILER_VERSION == 4
using Type = std::uint8_t;
int init(void** context, int* mask, const char*, std::uint64_t, int, int, int, void*) {
#else
using Type = std::uint64_t;
int init(void** context, std::uint64_t, int* mask, const char*, int, int, int, void*) {
#endif
  *context = &something;
  *mask = kColl;
  say("init");
  return 0;
}

struct Description {
  Type type;
  void* parent;
  int rank;
  std::uint64_t sequence;
  const char* function;
};

int start(void*, void** handle, Description* description) {
  *handle = &something;
  if (description->type == kColl) say(description->function);
  return 0;
}
int stop(void*) { return 0; }
int record_state(void*, int, void*) { return 0; }
int finalize(void*) {
  say("finalize");
  return 0;
}

}  // namespace

#define NAME_OF(version) ncclProfiler_v##version
#define NAME(version) NAME_OF(version)
extern "C" __attribute__((visibility("default"))) const struct {
  const char* name;
  decltype(&init) init;
  decltype(&start) start;
  decltype(&stop) stop;
  decltype(&record_state) record_state;
  decltype(&finalize) finalize;
} NAME(USER_PROFILER_VERSION) = {"user", init, start, stop, record_state, finalize};
