// scripts/gpu_check.sh runs these comparisons. OUTPUT is the traced program's output.
//   counts TRACE OUTPUT            device activities per step equal the lines "per_step NAME COUNT"
//   whole TRACE                    every device activity has a launch, and every launch has an activity
//   steps TRACE FIRST LAST         steps FIRST to LAST, no others
//   length TRACE NAME NS PERCENT   durations of kernels whose name contains NAME
//   same TRACE OTHER PERCENT       the same kernels per step, with the same total time
//   nccl TRACE                     NCCL kernels have the arguments of their collective
//   one_rank TRACE                 with one rank: NCCL's kernels are launched inside NCCL calls
//   graphs TRACE OUTPUT            every graph launch has all its nodes
//   memory TRACE OUTPUT            allocations and releases per step equal "per_step" lines
//   off_after TRACE LOG            time from the last device activity until CUPTI was off
//   hosted TRACE OUTPUT            host calls that launch, without device activity (no CUPTI)
// Exit status 1 if a line "FAILED: ..." was printed, 2 for wrong usage.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "profshim/trace/reader.h"

namespace {

using profshim::ReadEvent;

struct Work {
  std::string category, name;
  std::int64_t begin = 0, length = 0, correlation = -1, tid = 0;
  bool has_collective = false;
  std::int64_t end() const { return begin + length; }
};

struct Trace {
  std::vector<Work> device, calls;  // device: kernels, copies, memsets
  std::vector<Work> nccl_calls;
  std::vector<std::int64_t> blocks;  // bytes of the GPU's [memory] events; negative: released
  std::vector<std::int64_t> steps;
  std::int64_t begin = 0, end = 0;  // of the steps
  std::int64_t base = 0;            // nanoseconds since the epoch
  bool readable = false;
};

bool is_device(std::string_view category) {
  return category == "kernel" || category == "gpu_memcpy" || category == "gpu_memset";
}
bool is_launch(const std::string& name) {
  if (name.find("LaunchHostFunc") != std::string::npos) return false;
  return name.find("Launch") != std::string::npos || name.find("Memcpy") != std::string::npos ||
         name.find("Memset") != std::string::npos;
}

Work work_of(const ReadEvent& event) {
  Work work{std::string(event.category), std::string(event.name), event.ts_ns, event.duration_ns, -1, event.tid, false};
  for (const ReadEvent::ReadArg& arg : event.args) {
    if (arg.key == "correlation") work.correlation = arg.integer;
    if (arg.key == "Collective name") work.has_collective = true;
  }
  return work;
}

std::int64_t number_of(const ReadEvent& event, std::string_view key, std::int64_t otherwise) {
  for (const ReadEvent::ReadArg& arg : event.args) {
    if (arg.key == key) return arg.integer;
  }
  return otherwise;
}

Trace read(const std::string& path) {
  Trace trace;
  profshim::TraceVisitor visitor;
  visitor.metadata = [&trace](std::string_view key, std::string_view json, bool) {
    if (key == "baseTimeNanoseconds") trace.base = std::atoll(std::string(json).c_str());
  };
  visitor.event = [&trace](const ReadEvent& event) {
    constexpr std::int64_t kCuda = 1;  // c10::DeviceType
    if (event.name == "[memory]" && number_of(event, "Device Type", 0) == kCuda) {
      trace.blocks.push_back(number_of(event, "Bytes", 0));
    }
    if (event.phase != "X") return true;
    if (event.name.starts_with("nccl:")) trace.nccl_calls.push_back(work_of(event));
    if (is_device(event.category)) trace.device.push_back(work_of(event));
    if (event.category == "cuda_runtime" || event.category == "cuda_driver") trace.calls.push_back(work_of(event));
    if (event.category == "user_annotation" && event.name.starts_with("ProfilerStep#")) {
      trace.steps.push_back(std::atoll(std::string(event.name.substr(13)).c_str()));
      const std::int64_t end = event.ts_ns + event.duration_ns;
      trace.begin = trace.steps.size() == 1 ? event.ts_ns : std::min(trace.begin, event.ts_ns);
      trace.end = trace.steps.size() == 1 ? end : std::max(trace.end, end);
    }
    return true;
  };
  const profshim::ReadResult result = profshim::read_trace(path, visitor);
  trace.readable = result.ok;
  if (!result.ok) std::printf("FAILED: %s: %s\n", path.c_str(), result.error.c_str());
  std::sort(trace.steps.begin(), trace.steps.end());
  return trace;
}

int failures = 0;
template <class... Values>
void finding(bool good, const char* format, Values... values) {
  std::printf("%s: ", good ? "ok" : "FAILED");
  std::printf(format, values...);
  std::printf("\n");
  failures += good ? 0 : 1;
}

std::map<std::string, long> per_step(const std::string& path) {
  std::map<std::string, long> counts;
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    std::istringstream words(line);
    std::string word, name;
    long count = 0;
    if (words >> word >> name >> count && word == "per_step") counts[name] = count;
  }
  return counts;
}

long count_of(const Trace& trace, const std::string& name) {
  const auto is = [&name](const Work& work) {
    if (name == "memcpy") return work.category == "gpu_memcpy";
    if (name == "memset") return work.category == "gpu_memset";
    return work.category == "kernel" && work.name.find(name) != std::string::npos;
  };
  if (name != "graph") return std::count_if(trace.device.begin(), trace.device.end(), is);
  return std::count_if(trace.calls.begin(), trace.calls.end(),
                       [](const Work& call) { return call.name == "cudaGraphLaunch"; });
}

void counts(const Trace& trace, const std::string& output) {
  const auto expected = per_step(output);
  const long steps = static_cast<long>(trace.steps.size());
  finding(!expected.empty() && steps > 0, "%zu kinds of device activity, %ld steps in the trace", expected.size(),
          steps);
  for (const auto& [name, each] : expected) {
    const long seen = count_of(trace, name);
    finding(seen == each * steps, "%s: %ld in the trace, %ld launched in its steps", name.c_str(), seen, each * steps);
  }
}

void whole(const Trace& trace) {
  std::map<std::int64_t, const Work*> launches;
  for (const Work& call : trace.calls) {
    if (call.correlation > 0) launches.emplace(call.correlation, &call);
  }
  long unlaunched = 0, early = 0, outside = 0;
  std::int64_t earliest_ns = 0;  // longest time by which an activity precedes its launch
  std::set<std::int64_t> used;
  for (const Work& work : trace.device) {
    const auto at = launches.find(work.correlation);
    if (at == launches.end()) {
      ++unlaunched;
      continue;
    }
    used.insert(work.correlation);
    early += work.begin < at->second->begin ? 1 : 0;
    earliest_ns = std::max(earliest_ns, at->second->begin - work.begin);
    outside += at->second->begin < trace.begin || at->second->begin >= trace.end ? 1 : 0;
  }
  // A memset of 0 bytes, as in cudnn_convolution, launches nothing.
  long idle = 0, idle_memsets = 0, calls = 0;
  for (const auto& [correlation, call] : launches) {
    if (!is_launch(call->name)) continue;
    ++calls;
    if (used.count(correlation) != 0) continue;
    ++(call->name.find("Memset") != std::string::npos ? idle_memsets : idle);
  }
  finding(!trace.device.empty(), "%zu device activities", trace.device.size());
  finding(unlaunched == 0, "%ld device activities without a launch", unlaunched);
  finding(early == 0, "%ld device activities that begin before their launch, by %lld ns at most", early,
          static_cast<long long>(earliest_ns));
  finding(outside == 0, "%ld device activities launched outside of the window", outside);
  finding(idle == 0, "%ld of %ld launches without device activity, and %ld memsets, which may be empty", idle, calls,
          idle_memsets);
}

void steps(const Trace& trace, long first, long last) {
  std::vector<std::int64_t> wanted;
  for (long step = first; step <= last; ++step) wanted.push_back(step);
  finding(trace.steps == wanted, "%zu steps, from %lld to %lld; expected %ld to %ld", trace.steps.size(),
          static_cast<long long>(trace.steps.empty() ? -1 : trace.steps.front()),
          static_cast<long long>(trace.steps.empty() ? -1 : trace.steps.back()), first, last);
}

void length(const Trace& trace, const std::string& name, double ns, double percent) {
  long kernels = 0;
  double worst = 0;
  for (const Work& work : trace.device) {
    if (work.category != "kernel" || work.name.find(name) == std::string::npos) continue;
    ++kernels;
    const double off = (static_cast<double>(work.length) - ns) / ns * 100;
    if (std::abs(off) > std::abs(worst)) worst = off;
  }
  finding(kernels > 0 && std::abs(worst) <= percent, "%ld kernels %s of %.0f ns, at most %+.3f %% off (limit %g %%)",
          kernels, name.c_str(), ns, worst, percent);
}

struct PerStep {
  double count = 0, ns = 0;
};
std::map<std::string, PerStep> kernels_per_step(const Trace& trace) {
  std::map<std::string, PerStep> kernels;
  const double n = std::max<double>(1, static_cast<double>(trace.steps.size()));
  for (const Work& work : trace.device) {
    if (work.category != "kernel") continue;
    kernels[work.name].count += 1 / n;
    kernels[work.name].ns += static_cast<double>(work.length) / n;
  }
  return kernels;
}

void same(const Trace& ours, const Trace& theirs, double percent) {
  const auto a = kernels_per_step(ours), b = kernels_per_step(theirs);
  double ours_ns = 0, theirs_ns = 0;
  long different = 0;
  for (const auto& [name, kernel] : a) {
    ours_ns += kernel.ns;
    const auto at = b.find(name);
    if (at != b.end() && std::abs(at->second.count - kernel.count) < 1e-6) continue;
    if (++different <= 10) {
      std::printf("   %.90s: %g per step in our trace, %g in the other\n", name.c_str(), kernel.count,
                  at == b.end() ? 0.0 : at->second.count);
    }
  }
  for (const auto& [name, kernel] : b) {
    theirs_ns += kernel.ns;
    if (a.count(name) != 0) continue;
    if (++different <= 10)
      std::printf("   %.90s: none in our trace, %g per step in the other\n", name.c_str(), kernel.count);
  }
  finding(!a.empty() && different == 0,
          "%zu kernels by name in our trace, %zu in the other, %ld of them with different counts", a.size(), b.size(),
          different);
  const double off = theirs_ns > 0 ? (ours_ns - theirs_ns) / theirs_ns * 100 : 100;
  finding(std::abs(off) <= percent,
          "%.1f us of kernels per step in our trace, %.1f in the other: %+.3f %% (limit %g %%)", ours_ns / 1000,
          theirs_ns / 1000, off, percent);
}

void nccl(const Trace& trace) {
  long kernels = 0, bare = 0;
  for (const Work& work : trace.device) {
    if (work.category != "kernel" || !work.name.starts_with("nccl")) continue;
    ++kernels;
    bare += work.has_collective ? 0 : 1;
  }
  finding(kernels > 0 && bare == 0, "%ld kernels of NCCL, %ld without the arguments of their collective", kernels,
          bare);
}

// With one rank, NCCL copies the data, or launches the kernel oneRankReduce if the operation scales the data.
void one_rank(const Trace& trace) {
  std::map<std::int64_t, const Work*> launches;
  for (const Work& call : trace.calls) launches.emplace(call.correlation, &call);
  const auto in_nccl_call = [&trace, &launches](const Work& work) {
    const auto launch = launches.find(work.correlation);
    if (launch == launches.end()) return false;
    return std::any_of(trace.nccl_calls.begin(), trace.nccl_calls.end(), [&launch](const Work& call) {
      return call.tid == launch->second->tid && call.begin <= launch->second->begin &&
             launch->second->end() <= call.end();
    });
  };
  long kernels = 0, elsewhere = 0, copies = 0;
  for (const Work& work : trace.device) {
    const bool is_nccl = work.name.starts_with("nccl") || work.name.find("oneRankReduce") != std::string::npos;
    if (work.category == "kernel" && is_nccl) {
      ++kernels;
      elsewhere += in_nccl_call(work) ? 0 : 1;
    } else if (work.category == "gpu_memcpy" && in_nccl_call(work)) {
      ++copies;
    }
  }
  finding(!trace.nccl_calls.empty(), "%zu calls of NCCL", trace.nccl_calls.size());
  finding(kernels > 0, "%ld kernels of NCCL, %ld copies by its calls", kernels, copies);
  finding(elsewhere == 0, "%ld kernels of NCCL launched outside of its calls", elsewhere);
}

void graphs(const Trace& trace, const std::string& output) {
  const auto expected = per_step(output);
  long nodes = 0, launches = 0;  // per step
  for (const auto& [name, each] : expected) (name == "graph" ? launches : nodes) += each;
  std::map<std::int64_t, long> joined;
  for (const Work& work : trace.device) ++joined[work.correlation];
  long whole = 0, partial = 0;
  for (const Work& call : trace.calls) {
    if (call.name != "cudaGraphLaunch") continue;
    const auto at = joined.find(call.correlation);
    const long seen = at == joined.end() ? 0 : at->second;
    ++(launches > 0 && seen * launches == nodes ? whole : partial);
    joined.erase(call.correlation);
  }
  const auto steps = static_cast<long>(trace.steps.size());
  finding(whole == launches * steps && whole > 0 && partial == 0,
          "%ld graph launches with all nodes, %ld without; expected %ld", whole, partial, launches * steps);
  finding(joined.empty(), "%zu other calls with nodes of a graph", joined.size());
}

void memory(const Trace& trace, const std::string& output) {
  const auto released = std::count_if(trace.blocks.begin(), trace.blocks.end(), [](auto bytes) { return bytes < 0; });
  const std::map<std::string, long> seen = {{"allocation", static_cast<long>(trace.blocks.size()) - released},
                                            {"release", released}};
  const auto expected = per_step(output);
  for (const auto& [name, count] : seen) {
    const auto at = expected.find(name);
    const long wanted = at == expected.end() ? -1 : at->second * static_cast<long>(trace.steps.size());
    finding(count == wanted, "%s: %ld in the trace, %ld in its steps", name.c_str(), count, wanted);
  }
}

/// cupti_watch.so wrote `log`. All times are from CLOCK_REALTIME.
void off_after(const Trace& trace, const std::string& log) {
  constexpr int kConcurrentKernel = 10;
  std::int64_t last = 0;
  for (const Work& work : trace.device) last = std::max(last, work.end());
  std::ifstream file(log);
  for (std::string line; std::getline(file, line);) {
    std::istringstream words(line);
    std::int64_t begin = 0, length = 0, thread = 0;
    std::string function;
    int kind = 0;
    if (!(words >> begin >> length >> thread >> function >> kind)) continue;
    if (function != "cuptiActivityDisable" || kind != kConcurrentKernel || begin - trace.base < trace.end) continue;
    finding(last > 0, "CUPTI off %.1f ms after the last device activity of the window",
            static_cast<double>(begin + length - trace.base - last) / 1e6);
    return;
  }
  finding(false, "CUPTI was not switched off after the window");
}

void hosted(const Trace& trace, const std::string& output) {
  long expected = 0;
  for (const auto& [name, each] : per_step(output))
    expected += name == "memcpy" || name == "memset" || name == "graph" ? 0 : each;
  const auto steps = static_cast<long>(trace.steps.size());
  const auto seen = std::count_if(trace.calls.begin(), trace.calls.end(),
                                  [](const Work& call) { return call.name.find("LaunchKernel") != std::string::npos; });
  finding(trace.device.empty(), "%zu device activities", trace.device.size());
  finding(expected > 0 && seen == expected * steps, "%ld launches in the trace, %ld in its steps",
          static_cast<long>(seen), expected * steps);
}

}  // namespace

int main(int argc, char** argv) {
  const std::vector<std::string> words(argv + 1, argv + argc);
  const std::string what = words.empty() ? "" : words[0];
  const std::map<std::string, std::size_t> sizes = {{"counts", 3}, {"whole", 2},  {"steps", 4},    {"length", 5},
                                                    {"same", 4},   {"nccl", 2},   {"hosted", 3},   {"one_rank", 2},
                                                    {"graphs", 3}, {"memory", 3}, {"off_after", 3}};
  const auto size = sizes.find(what);
  if (size == sizes.end() || size->second != words.size()) {
    std::fprintf(stderr,
                 "usage: check_trace WHAT TRACE ...; the head of tests/gpu/check_trace.cpp lists the comparisons\n");
    return 2;
  }
  const Trace trace = read(words[1]);
  if (!trace.readable) return 1;
  if (what == "counts") counts(trace, words[2]);
  if (what == "whole") whole(trace);
  if (what == "steps") steps(trace, std::atol(words[2].c_str()), std::atol(words[3].c_str()));
  if (what == "length") length(trace, words[2], std::atof(words[3].c_str()), std::atof(words[4].c_str()));
  if (what == "same") {
    const Trace other = read(words[2]);
    if (!other.readable) return 1;
    same(trace, other, std::atof(words[3].c_str()));
  }
  if (what == "nccl") nccl(trace);
  if (what == "hosted") hosted(trace, words[2]);
  if (what == "one_rank") one_rank(trace);
  if (what == "graphs") graphs(trace, words[2]);
  if (what == "memory") memory(trace, words[2]);
  if (what == "off_after") off_after(trace, words[2]);
  return failures == 0 ? 0 : 1;
}
