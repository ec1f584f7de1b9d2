// Answers questions about CUPTI that need a GPU, without profshim. scripts/gpu_check.sh puts the answers into its
// results. Each question has its own process, because CUPTI keeps state.
//   cupti_questions list          prints the names of the questions
//   cupti_questions QUESTION      prints one answer per line; exit status 1 if CUPTI refuses a call
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <set>
#include <vector>

#include "cupti_session.h"

namespace {

void attributes() {
  std::uint8_t per_thread = 0;
  std::size_t size = sizeof per_thread;
  if (cuptiActivityGetAttribute(CUPTI_ACTIVITY_ATTR_PER_THREAD_ACTIVITY_BUFFER, &size, &per_thread) == CUPTI_SUCCESS) {
    std::printf("buffers per thread by default: %s\n", per_thread != 0 ? "yes" : "no");
  }
  std::size_t bytes = 0;
  size = sizeof bytes;
  if (cuptiActivityGetAttribute(CUPTI_ACTIVITY_ATTR_DEVICE_BUFFER_SIZE, &size, &bytes) == CUPTI_SUCCESS) {
    std::printf("device buffer: %zu bytes by default\n", bytes);
  }
}

/// What does a launch cost before the first enable, while enabled, after disable and after cuptiFinalize?
void cost() {
  ns_per_launch();  // warm-up
  std::printf("launch, nothing enabled yet: %.0f ns\n", ns_per_launch());
  enable_kernels();
  ns_per_launch();
  std::printf("launch, CONCURRENT_KERNEL: %.0f ns\n", ns_per_launch());
  enable(CUPTI_ACTIVITY_KIND_RUNTIME, "enable RUNTIME");
  enable(CUPTI_ACTIVITY_KIND_DRIVER, "enable DRIVER");
  std::printf("launch, and RUNTIME and DRIVER whole: %.0f ns\n", ns_per_launch());
  disable(CUPTI_ACTIVITY_KIND_RUNTIME, "disable RUNTIME");
  disable(CUPTI_ACTIVITY_KIND_DRIVER, "disable DRIVER");
#if CUPTI_API_VERSION >= 24
  select_launches(true, true, true);
  std::printf("launch, and RUNTIME and DRIVER by callback id: %.0f ns\n", ns_per_launch());
  select_launches(true, true, false);
#endif
  disable_kernels();
  flush();
  std::printf("launch, everything disabled: %.0f ns\n", ns_per_launch());
  std::printf("launch, everything disabled, once more: %.0f ns\n", ns_per_launch());
  std::printf("buffers completed: %ld, on the launching thread: %ld\n", buffers, on_callers_thread);
  check(cuptiFinalize(), "cuptiFinalize");
  ns_per_launch();
  std::printf("launch, after cuptiFinalize: %.0f ns\n", ns_per_launch());
}

/// Are calls recorded that are selected by callback id in a process that has a context, and what do they cost?
void calls_by_id() {
#if CUPTI_API_VERSION >= 24
  constexpr unsigned kMostIds = 1000;
  const auto select_all = [](bool on) {
    for (unsigned id = 1; id < kMostIds; ++id) {
      const char* name = nullptr;
      if (cuptiGetCallbackName(CUPTI_CB_DOMAIN_RUNTIME_API, id, &name) == CUPTI_SUCCESS)
        cuptiActivityEnableRuntimeApi(id, on ? 1 : 0);
      if (cuptiGetCallbackName(CUPTI_CB_DOMAIN_DRIVER_API, id, &name) == CUPTI_SUCCESS)
        cuptiActivityEnableDriverApi(id, on ? 1 : 0);
    }
  };
  const auto ask = [](const char* how, Clock::time_point begin) {
    const double enabling = ms_since(begin);
    const double cost = ns_per_launch();
    flush();
    std::printf("%s: enabled in %.3f ms, %.0f ns per launch, records of calls by id:", how, enabling, cost);
    const std::lock_guard<std::mutex> guard(lock);
    for (const auto& [callback, count] : of_callback) std::printf(" %u: %ld", callback, count);
    std::printf("\n");
  };
  const auto kinds = [](bool on) {
    (on ? enable : disable)(CUPTI_ACTIVITY_KIND_RUNTIME, "RUNTIME");
    (on ? enable : disable)(CUPTI_ACTIVITY_KIND_DRIVER, "DRIVER");
  };
  load_kernels();
  ns_per_launch();
  for (const char* const round : {"first session", "second session"}) {
    std::printf("%s\n", round);
    forget();
    auto begin = Clock::now();
    enable_kernels();
    ask("kernels alone", begin);
    begin = Clock::now();
    select_launches(true, true, true);
    ask("selected", begin);
    select_launches(true, true, false);
    disable_kernels();
    flush();
    forget();
    begin = Clock::now();
    select_launches(true, true, true);
    enable_kernels();
    ask("selected before kernels are enabled", begin);
    select_launches(true, true, false);
    forget();
    begin = Clock::now();
    kinds(true);
    ask("the kinds as a whole", begin);
    forget();
    begin = Clock::now();
    select_all(false);
    select_launches(true, true, true);
    ask("all others deselected", begin);
    kinds(false);
    forget();
    begin = Clock::now();
    ask("the kinds disabled", begin);
    forget();
    begin = Clock::now();
    kinds(true);
    kinds(false);
    select_launches(true, true, true);
    ask("selected after the kinds were on and off", begin);
    select_launches(true, true, false);
    forget();
    begin = Clock::now();
    ask("deselected", begin);
    disable_kernels();
    flush();
  }
#else
  std::printf("this CUPTI cannot select calls\n");
#endif
}

/// Does FlushAll(0) hand over finished records while a kernel runs?
void flush_while_busy() {
  enable_kernels();
  launch(100, 1);
  wait();
  busy_kernel<<<1, 1>>>(300'000'000);
  const auto begin = Clock::now();
  flush();
  const double length = ms_since(begin);
  std::printf("FlushAll(0) while a kernel of 300 ms runs: %zu of 100 finished kernels, after %.3f ms\n",
              kernels_now().size(), length);
  launch(100, 1);
  const auto again = Clock::now();
  flush();
  std::printf("FlushAll(0) with 100 more kernels in the queue behind it: %zu kernels, after %.3f ms\n",
              kernels_now().size(), ms_since(again));
  wait();
  flush();
  std::printf("FlushAll(0) when all 201 have ended: %zu kernels\n", kernels_now().size());
}

/// Does a forced flush hand over finished records before and behind the record of a running kernel, and how does
/// reading the buffer end at that record? (CUPTI documents CUPTI_ERROR_INVALID_KIND at cuptiActivityGetNextRecord().)
void forced_flush_while_busy() {
  constexpr int kEach = 100, kBusyGrid = 1, kBefore = kBusyGrid + 1, kBehind = kBefore + kEach;
  cudaStream_t busy = nullptr, quick = nullptr;
  check(cudaStreamCreateWithFlags(&busy, cudaStreamNonBlocking), "stream");
  check(cudaStreamCreateWithFlags(&quick, cudaStreamNonBlocking), "stream");
  load_kernels();
  enable_kernels();
  launch(kEach, kBefore, quick);
  busy_kernel<<<kBusyGrid, 1, 0, busy>>>(300'000'000);
  launch(kEach, kBehind, quick);
  check(cudaStreamSynchronize(quick), "synchronize");
  const auto say = [](const char* when, double ms) {
    long before = 0, behind = 0, busy_ones = 0;
    for (const Kernel& kernel : kernels_now()) {
      ++(kernel.grid >= kBehind ? behind : kernel.grid >= kBefore ? before : busy_ones);
    }
    std::printf("%s, after %.3f ms: %ld of %d kernels before it, %ld of %d behind it, %ld of 1 itself; buffers end with",
                when, ms, before, kEach, behind, kEach, busy_ones);
    for (const auto& [result, count] : endings_now()) std::printf(" %s: %ld", text_of(result), count);
    std::printf("\n");
  };
  auto begin = Clock::now();
  check(cuptiActivityFlushAll(CUPTI_ACTIVITY_FLAG_FLUSH_FORCED), "forced flush");
  say("FlushAll(1) while a kernel of 300 ms runs", ms_since(begin));
  wait();
  begin = Clock::now();
  check(cuptiActivityFlushAll(CUPTI_ACTIVITY_FLAG_FLUSH_FORCED), "forced flush");
  say("FlushAll(1) when all have ended, both together", ms_since(begin));
}

/// Do enabling and disabling of kernel records wait for the device?
void enable_while_busy() {
  load_kernels();
  for (const char* const round : {"first", "second"}) {
    busy_kernel<<<1, 1>>>(200'000'000);
    const auto begin = Clock::now();
    enable_kernels();
    const double on = ms_since(begin);
    empty_kernel<<<7, 32>>>();
    const double launched = ms_since(begin) - on;
    const auto off_begin = Clock::now();
    disable_kernels();
    const double off = ms_since(off_begin);
    const auto wait_begin = Clock::now();
    wait();
    std::printf("%s enable while a kernel of 200 ms runs: %.3f ms, the next launch %.3f ms, disable %.3f ms; "
                "then the device still works for %.1f ms\n",
                round, on, launched, off, ms_since(wait_begin));
  }
  const auto begin = Clock::now();
  enable_kernels();
  const double idle = ms_since(begin);
  disable_kernels();
  std::printf("enable while the device is idle: %.3f ms\n", idle);
  flush();
  std::printf("kernels delivered, of one launched in each round while it was on: %zu\n", kernels_now().size());
}

/// Does CUPTI, enabled a second time, deliver all kernels, including the first?
void enable_again() {
  constexpr int kEach = 10;
  enable_kernels();
  launch(kEach, 1);
  wait();
  disable_kernels();
  flush();
  std::printf("first session: %zu of %d kernels\n", kernels_now().size(), kEach);
  forget();
  launch(kEach, 101);
  wait();
  flush();
  std::printf("between the sessions: %zu of %d kernels\n", kernels_now().size(), kEach);
  forget();
  enable_kernels();
  launch(kEach, 201);
  wait();
  disable_kernels();
  flush();
  const std::vector<Kernel> second = kernels_now();
  std::set<int> seen;
  for (const Kernel& kernel : second) seen.insert(kernel.grid);
  std::printf("second session: %zu of %d kernels, the first launch of it %s, others than its own: %ld\n", second.size(),
              kEach, seen.count(201) != 0 ? "among them" : "NOT among them",
              static_cast<long>(std::count_if(seen.begin(), seen.end(), [](int grid) { return grid < 201; })));
}

/// Are kernel times in the clock of the timestamp callback?
void own_clock() {
  enable_kernels();
  const std::uint64_t before = __rdtsc();
  busy_kernel<<<1, 1>>>(10'000'000);
  wait();
  const std::uint64_t after = __rdtsc();
  flush();
  const std::vector<Kernel> seen = kernels_now();
  if (seen.empty()) {
    std::printf("no kernel was delivered\n");
    return;
  }
  const bool inside = before <= seen[0].start && seen[0].start < seen[0].end && seen[0].end <= after;
  std::printf("kernel times with a timestamp callback on the TSC: %s (10 ms are %llu of %llu ticks)\n",
              inside ? "inside of the host's interval" : "NOT inside of the host's interval",
              static_cast<unsigned long long>(seen[0].end - seen[0].start),
              static_cast<unsigned long long>(after - before));
}

/// If the clock is registered again before CUPTI is enabled again, do the next kernels have times of another clock?
void clock_registered_again() {
  for (const char* const round : {"first", "second, registered again"}) {
    if (round[0] == 's') check(cuptiActivityRegisterTimestampCallback(tsc), "timestamp callback, again");
    forget();
    const std::uint64_t before = __rdtsc(), real_before = realtime_ns();
    enable_kernels();
    launch(20, 1);
    wait();
    const std::uint64_t after = __rdtsc(), real_after = realtime_ns();
    disable_kernels();
    flush();
    std::vector<Kernel> seen = kernels_now();
    std::sort(seen.begin(), seen.end(), [](const Kernel& a, const Kernel& b) { return a.correlation < b.correlation; });
    long ours = 0, realtime = 0, other = 0;
    int last_wrong = -1;
    for (const Kernel& kernel : seen) {
      const bool in_ticks = before <= kernel.start && kernel.end <= after;
      ++(in_ticks ? ours : real_before <= kernel.start && kernel.end <= real_after ? realtime : other);
      if (!in_ticks) last_wrong = kernel.grid;
    }
    std::printf("session %s: %zu of 20 kernels: %ld in ticks, %ld in CLOCK_REALTIME, %ld in neither%s", round,
                seen.size(), ours, realtime, other, last_wrong < 0 ? "\n" : "");
    if (last_wrong >= 0) std::printf("; the last wrong one is launch %d\n", last_wrong);
  }
}

/// Does CUPTI deliver device, context and stream records if enabled after the context was made?
void context_records() {
  const struct {
    CUpti_ActivityKind kind;
    const char* name;
  } kinds[] = {{CUPTI_ACTIVITY_KIND_DEVICE, "DEVICE"},
               {CUPTI_ACTIVITY_KIND_CONTEXT, "CONTEXT"},
               {CUPTI_ACTIVITY_KIND_STREAM, "STREAM"}};
  cudaStream_t stream = nullptr;
  check(cudaStreamCreate(&stream), "stream");
  for (const auto& kind : kinds) {
    forget();
    check(cuptiActivityEnable(kind.kind), kind.name);
    flush();
    const long by_enable = records_of(kind.kind);
    check(cuptiActivityDisable(kind.kind), kind.name);
    flush();
    forget();
    const CUptiResult result = cuptiActivityEnableAndDump(kind.kind);
    flush();
    std::printf("%s: %ld records by cuptiActivityEnable, %ld by cuptiActivityEnableAndDump (result %d)\n", kind.name,
                by_enable, records_of(kind.kind), static_cast<int>(result));
    check(cuptiActivityDisable(kind.kind), kind.name);
    flush();
  }
  forget();
  enable(CUPTI_ACTIVITY_KIND_STREAM, "STREAM");
  check(cudaStreamCreate(&stream), "stream");
  flush();
  std::printf("STREAM: %ld records for a stream that is made while it is on\n",
              records_of(CUPTI_ACTIVITY_KIND_STREAM));
}

/// Does CUPTI deliver external correlation records if API calls are enabled one by one?
void external_correlation() {
#if CUPTI_API_VERSION >= 24
  void* memory = nullptr;
  check(cudaMalloc(&memory, 4096), "memory");
  const auto ask = [memory](const char* selected, std::uint64_t id) {
    forget();
    check(cuptiActivityPushExternalCorrelationId(CUPTI_EXTERNAL_CORRELATION_KIND_CUSTOM2, id), "push");
    check(cudaMemsetAsync(memory, 0, 4096), "memset");
    empty_kernel<<<1, 32>>>();
    check(cudaPeekAtLastError(), "launch");
    std::uint64_t last = 0;
    check(cuptiActivityPopExternalCorrelationId(CUPTI_EXTERNAL_CORRELATION_KIND_CUSTOM2, &last), "pop");
    wait();
    flush();
    const std::lock_guard<std::mutex> guard(lock);
    std::printf("%s: %ld external records for a memset and a launch; records of calls by id:", selected,
                of_external.count(id) != 0 ? of_external[id] : 0);
    for (const auto& [callback, count] : of_callback) std::printf(" %u: %ld", callback, count);
    std::printf("\n");
  };
  constexpr struct {
    const char* name;
    bool runtime, driver;
  } kSelections[] = {{"no call selected", false, false},
                     {"launches of the runtime selected", true, false},
                     {"launches of the driver selected", false, true},
                     {"both selected", true, true}};
  enable_kernels();
  enable(CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION, "enable EXTERNAL_CORRELATION");
  std::uint64_t id = 0;
  for (const auto& selection : kSelections) {
    select_launches(selection.runtime, selection.driver, true);
    ask(selection.name, ++id);
    select_launches(selection.runtime, selection.driver, false);
  }
  enable(CUPTI_ACTIVITY_KIND_RUNTIME, "enable RUNTIME");
  ask("the kind RUNTIME as a whole", ++id);
#else
  std::printf("this CUPTI cannot select calls\n");
#endif
}

/// Does a graph that was instantiated before the first enable deliver its nodes?
void graph_before_enable() {
  constexpr int kNodes = 5, kLaunched = 10;
  cudaStream_t stream = nullptr;
  cudaGraph_t graph = nullptr;
  cudaGraphExec_t executable = nullptr;
  check(cudaStreamCreate(&stream), "stream");
  check(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal), "capture");
  for (int i = 0; i < kNodes; ++i) empty_kernel<<<i + 1, 32, 0, stream>>>();
  check(cudaStreamEndCapture(stream, &graph), "capture");
  check(cudaGraphInstantiateWithFlags(&executable, graph, 0), "instantiate");
  check(cudaGraphLaunch(executable, stream), "launch");
  wait();
  for (const char* const round : {"first", "second"}) {
    forget();
    enable_kernels();
    for (int i = 0; i < kLaunched; ++i) check(cudaGraphLaunch(executable, stream), "launch");
    wait();
    disable_kernels();
    flush();
    std::set<std::uint32_t> correlations;
    for (const Kernel& kernel : kernels_now()) correlations.insert(kernel.correlation);
    std::printf("%s session: %zu kernels of %d, of %zu launches of %d\n", round, kernels_now().size(),
                kNodes * kLaunched, correlations.size(), kLaunched);
  }
}

/// Can CUPTI be enabled after cuptiFinalize?
void after_finalize() {
  enable_kernels();
  launch(10, 1);
  wait();
  disable_kernels();
  flush();
  std::printf("before cuptiFinalize: %zu of 10 kernels\n", kernels_now().size());
  check(cuptiFinalize(), "cuptiFinalize");
  forget();
  check(cuptiActivityRegisterTimestampCallback(tsc), "timestamp callback, after cuptiFinalize");
  check(cuptiActivityRegisterCallbacks(requested, completed), "buffer callbacks, after cuptiFinalize");
  enable_kernels();
  launch(10, 1);
  wait();
  flush();
  std::printf("after it: %zu of 10 kernels\n", kernels_now().size());
}

std::size_t kernels_before_exit = 0;
void flush_at_exit() {
  const CUptiResult result = cuptiActivityFlushAll(CUPTI_ACTIVITY_FLAG_FLUSH_FORCED);
  std::printf("flush in an atexit handler: result %d, %zu of 50 kernels\n", static_cast<int>(result),
              kernels_now().size() - kernels_before_exit);
}
void at_exit() {
  std::atexit(flush_at_exit);
  enable_kernels();
  launch(50, 1);
  wait();
  kernels_before_exit = kernels_now().size();
}

constexpr struct {
  const char* name;
  void (*ask)();
} kQuestions[] = {{"attributes", attributes},
                  {"own_clock", own_clock},
                  {"enable_again", enable_again},
                  {"clock_registered_again", clock_registered_again},
                  {"graph_before_enable", graph_before_enable},
                  {"flush_while_busy", flush_while_busy},
                  {"forced_flush_while_busy", forced_flush_while_busy},
                  {"enable_while_busy", enable_while_busy},
                  {"context_records", context_records},
                  {"external_correlation", external_correlation},
                  {"calls_by_id", calls_by_id},
                  {"cost", cost},
                  {"after_finalize", after_finalize},
                  {"at_exit", at_exit}};

void say_versions() {
  std::uint32_t version = 0;
  cuptiGetVersion(&version);
  int driver = 0, runtime = 0;
  cudaDriverGetVersion(&driver);
  cudaRuntimeGetVersion(&runtime);
  std::printf("CUPTI %u, runtime %d, driver %d\n", version, runtime, driver);
}

}  // namespace

int main(int argc, char** argv) {
  const char* const wanted = argc == 2 ? argv[1] : "";
  if (std::strcmp(wanted, "list") == 0) {
    for (const auto& question : kQuestions) std::printf("%s\n", question.name);
    return 0;
  }
  for (const auto& question : kQuestions) {
    if (std::strcmp(wanted, question.name) != 0) continue;
    std::setvbuf(stdout, nullptr, _IOLBF, 0);  // answers before a crash are kept
    main_thread = static_cast<pid_t>(syscall(SYS_gettid));
    check(cuptiActivityRegisterTimestampCallback(tsc), "timestamp callback");
    check(cuptiActivityRegisterCallbacks(requested, completed), "buffer callbacks");
    check(cudaFree(nullptr), "initialize");
    if (question.ask == attributes) say_versions();
    question.ask();
    return fault;
  }
  std::fprintf(stderr, "usage: cupti_questions list | QUESTION\n");
  return 2;
}
