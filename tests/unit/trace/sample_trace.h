#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "profshim/base/version.h"
#include "profshim/json.h"
#include "profshim/trace/writer.h"

namespace profshim::test {

class MemorySink final : public ByteSink {
 public:
  explicit MemorySink(std::string& text, std::size_t limit = ~std::size_t{0}) : text_(text), limit_(limit) {}
  bool write(const char* data, std::size_t size) override {
    if (size > limit_ - text_.size()) return false;
    text_.append(data, size);
    return true;
  }
  bool close() override { return true; }

 private:
  std::string& text_;
  std::size_t limit_;
};

struct SampleOptions {
  int rank = 0;
  int world_size = 4;
  int steps = 3;
  std::int64_t first_step = 11;
  std::int64_t base_time_ns = 1790857026000000000;  // a multiple of 7889238 s
  bool complete = true;
  int window = 0;
  std::string spec_hash = "0123456789abcdef";
  std::string trace_name = "/data/run/step11/rank0.11.pt.trace.json";
};

inline TraceHeader sample_header(const SampleOptions& options) {
  TraceHeader header;
  header.rank.rank = options.rank;
  header.rank.world_size = options.world_size;
  header.rank.host = "node" + std::to_string(options.rank / 2);
  std::string ranks;
  for (int i = 0; i < options.world_size; ++i) ranks += (i == 0 ? "" : ", ") + std::to_string(i);
  header.groups.push_back({"0", "MPI_COMM_WORLD", "[" + ranks + "]", options.world_size});
  header.base_time_ns = options.base_time_ns;
  header.profshim = {{"version", json_string(kVersion)},
                     {"spec_hash", json_string(options.spec_hash)},
                     {"window", std::to_string(options.window)},
                     {"complete", options.complete ? "true" : "false"},
                     {"truncated", "false"},
                     {"dropped", "{\"total\": 0}"}};
  header.trace_name = options.trace_name;
  return header;
}

/// Times are in nanoseconds after the base time.
class SampleWriter {
 public:
  SampleWriter(TraceWriter& writer, const SampleOptions& options) : writer_(writer), options_(options) {}

  void write_all() {
    names();
    const std::int64_t end = begin_ + options_.steps * kStep_ns;
    event({.phase = 'X',
           .category = Category::kTrace,
           .name = "PyTorch Profiler (0)",
           .pid_text = "Spans",
           .tid_text = "PyTorch Profiler",
           .text_ids = true,
           .begin_ns = begin_ - 1000,
           .duration_ns = end - begin_ + 2000},
          {{"Op count", std::int64_t{0}}});
    event({.phase = 'i',
           .name = "Iteration Start: PyTorch Profiler",
           .pid_text = "Traces",
           .tid_text = "Trace PyTorch Profiler",
           .text_ids = true,
           .begin_ns = begin_ - 1000,
           .scope = 'g'});
    for (int i = 0; i < options_.steps; ++i) step(options_.first_step + i, begin_ + i * kStep_ns);
    event({.phase = 'i', .name = "Record Window End", .text_ids = true, .begin_ns = end + 1000, .scope = 'g'});
  }

 private:
  void event(TraceEvent e, std::vector<Arg> args = {}) {
    e.begin_ns += options_.base_time_ns;
    e.args = args;
    writer_.write(e);
  }

  void names() {
    const auto meta = [&](std::string_view name, std::int64_t tid, Arg arg) {
      event({.phase = 'M', .name = name, .pid = pid_, .tid = tid, .begin_ns = begin_ - 1000}, {arg});
    };
    meta("process_name", 0, {"name", "heat3d"});
    meta("process_labels", 0, {"labels", "CPU"});
    meta("process_sort_index", 0, {"sort_index", pid_});
    meta("thread_name", pid_, {"name", "thread main (heat3d)"});
    meta("thread_sort_index", pid_, {"sort_index", pid_});
  }

  void step(std::int64_t number, std::int64_t at) {
    const std::string name = "ProfilerStep#" + std::to_string(number);
    slice(Category::kUserAnnotation, name, at, 9'999'500);
    slice(Category::kUserAnnotation, "exchange halo", at + 100'000, 3'000'000);
    request('b', at + 150'000, number);
    slice(Category::kCpuOp, "MPI_Irecv", at + 150'000, 20'125,
          {{"bytes", std::int64_t{4096}}, {"peer", std::int64_t{(options_.rank + 1) % options_.world_size}}});
    slice(Category::kCpuOp, "MPI_Wait", at + 400'000, 500'250);
    request('e', at + 900'250, number);
    slice(Category::kCpuOp, "MPI_Allreduce", at + 4'000'000, 1'000'001 + options_.rank * 1000,
          {{"bytes", std::int64_t{8}},
           {"count", std::int64_t{1}},
           {"dtype", "double"},
           {"op", "sum"},
           {"comm", "MPI_COMM_WORLD"},
           {"comm size", std::int64_t{options_.world_size}},
           {"seq", number}});
  }

  void slice(Category category, std::string_view name, std::int64_t at, std::int64_t duration,
             std::vector<Arg> args = {}) {
    event({.phase = 'X',
           .category = category,
           .name = name,
           .pid = pid_,
           .tid = pid_,
           .begin_ns = at,
           .duration_ns = duration},
          std::move(args));
  }

  void request(char phase, std::int64_t at, std::int64_t number) {
    event({.phase = phase,
           .category = Category::kCpuOp,
           .name = "MPI_Irecv",
           .pid = pid_,
           .tid = pid_,
           .begin_ns = at,
           .id = static_cast<std::uint64_t>(number)});
  }

  static constexpr std::int64_t kStep_ns = 10'000'000;
  TraceWriter& writer_;
  const SampleOptions& options_;
  const std::int64_t pid_ = 4711 + options_.rank;
  const std::int64_t begin_ = 1'234'567'891'011;
};

inline std::string sample_trace(const SampleOptions& options = {}) {
  std::string text;
  MemorySink sink(text);
  TraceWriter writer(sink, sample_header(options));
  SampleWriter(writer, options).write_all();
  writer.finish();
  return text;
}

}  // namespace profshim::test
