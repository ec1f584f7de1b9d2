#pragma once

#include <sys/mman.h>
#include <unistd.h>

#include <array>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string>
#include <string_view>
#include <utility>

#include "profshim/call_stack.h"
#include "profshim/hooks/ids.h"
#include "profshim/recorder_control.h"
#include "profshim/spool/view.h"
#include "unit/kineto/device/device_events.h"
#include "unit/temporary_folder.h"
#include "unit/trace/sample_trace.h"

namespace profshim::test {

/// A complete spool of 15 MB, which should be constructed only once per process.
class SpoolImage {
 public:
  static constexpr std::uint32_t kChunks = 4;
  /// At most 64 KiB, because two bytes of fuzzer input name a place in the region.
  struct Region {
    std::uint64_t at, bytes;
  };

  SpoolImage() {
    record();
    size_ = recorder::size();
    data_ = static_cast<char*>(mmap(nullptr, size_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    if (data_ == MAP_FAILED) std::abort();
    std::memcpy(data_, recorder::data(), size_);
    recorder::set_mode(0, ~0u);
    recorder::abandon_in_child();
    fix_what_differs_from_run_to_run();
    const auto& h = header();
    regions_ = {{{0, sizeof(spool::SpoolHeader)},
                 {h.windows_at, 3 * sizeof(spool::Window)},
                 {h.threads_at, sizeof(spool::Thread)},
                 {h.definitions_at, 24 * sizeof(spool::Definition)},
                 {h.arena_at, 4096},
                 {h.marks_at, 8 * sizeof(spool::StepMark)},
                 {h.anchors_at, 6 * sizeof(Anchor)},
                 {h.pending_at, 3 * sizeof(Event)},
                 {h.chunks_at, 16 * sizeof(Event)},
                 {h.chunks_at + spool::kChunkBytes - 4 * sizeof(Event), 12 * sizeof(Event)},
                 {h.chunks_at + device_chunk() * std::uint64_t{spool::kChunkBytes}, 20 * sizeof(Event)}}};
  }

  spool::SpoolHeader& header() { return *reinterpret_cast<spool::SpoolHeader*>(data_); }
  char* data() { return data_; }
  std::size_t size() const { return size_; }
  const Region& region(std::uint8_t i) const { return regions_[i % regions_.size()]; }

 private:
  static Event event(Ticks begin, Ticks end, HookId hook) {
    Event e;
    e.begin = begin;
    e.end = end;
    e.hook = hook;
    return e;
  }

  static Event call(Ticks begin, Ticks end, const char* name) {
    Event e = event(begin, end, hook_by_name(name));
    e.mpi = {
        .bytes = 64, .count = 8, .comm = 1, .sequence = 3, .peer = 1, .tag = 7, .datatype = 2, .op = 3, .request = 0};
    return e;
  }

  static void record() {
    const TemporaryFolder folder;
    std::string why_not;
    use_clock(ClockKind::kTsc);
    if (!recorder::create_spool(folder.path() + "/spool", {kChunks, 64 << 10}, why_not)) std::abort();
    recorder::set_mode(recorder::kActive | recorder::kArmed | recorder::kMpi | recorder::kNvtx, 0);
    recorder::tend_pool([] { return Ticks{1}; }, kChunks);
    describe();
    fill();
  }

  static void describe() {
    using recorder::define;
    using recorder::intern;
    using Kind = spool::DefinitionKind;
    spool::SpoolHeader& h = recorder::header();
    h.rank = 1;
    h.world_size = 2;
    h.base_time_ns = 7889238'000'000'000 * 220;
    h.host = intern("node");
    h.program = intern("solver");
    h.command = intern("./solver \"input\"");
    h.spec = intern("version = 1\n");
    h.run_name = intern("run");
    h.step_source = intern("nvtx step *");
    h.step_marker = intern("step 1");
    for (int i = 0; i < 3; ++i) {
      const std::int64_t ns = 1'000'000 * i;
      recorder::add_anchor({static_cast<Ticks>(3 * ns + 300), ns + 100, h.base_time_ns + ns + 100});
    }
    define(Kind::kCommunicator, 1, intern("MPI_COMM_WORLD"), intern("[0, 1]"), {0x1234, 2, 1, 0});
    define(Kind::kDatatype, 2, intern("MPI_DOUBLE"), 0, {8});
    define(Kind::kReduction, 3, intern("MPI_SUM"));
    define(Kind::kNvtxDomain, 4, intern("library"));
    define(Kind::kNvtxCategory, 0, intern("io"), 0, {4, 9});
    define(Kind::kThreadName, 0, intern("main loop"), 0, {4242});
    define(Kind::kMetadata, 0, intern("scope"), intern("{\"recorded\": [\"mpi\"]}"));
    define(Kind::kMetadata, 0, intern("spec_hash"), intern("\"0123\""));
    define(Kind::kDevice, 0, intern("GPU"), intern(DeviceEvents::kB200));
    define(Kind::kStream, 7, intern("compute"), 0, {0, 1});
    define(Kind::kCommunicator, 5, intern("ranks"), intern("[0, 1]"), {0x99, 2, 0, 0, 1, 0});
    define(Kind::kModule, 0, intern("/nowhere/solver"), 0, {0x1000, 0x2000, 0, 0x1000});
    recorder::problem("mpi", "one request was lost");
  }

  // Keep the order of the events, because the corpus names places in this image.
  static void fill() {
    spool::Thread& t = *recorder::this_thread();
    const std::uint64_t first = recorder::add_mark({1000, 10, 110});
    spool::Window* const one = recorder::open_window(1000, first);
    fill_mpi_and_nvtx(t);
    recorder::add_mark({2000, 11, 111});
    fill_device_block();
    fill_nccl(t);
    fill_polls(t);
    fill_torch_operators(t);
    fill_torch_groups(t);
    fill_to_the_end_of_the_run(t);
    const std::uint64_t second = recorder::add_mark({900'000, 12, 112});
    one->complete = 1;
    recorder::close_window(*one, 900'000, second, spool::WindowEnd::kSchedule, 0);
    spool::Window* const two = recorder::open_window(900'000, second);
    recorder::commit(t, call(900'100, 900'200, "MPI_Barrier"));
    recorder::close_window(*two, 901'000, recorder::add_mark({901'000, 13, 113}), spool::WindowEnd::kLimit,
                           recorder::intern("limits.trace_size"));
    recorder::open_window(902'000, recorder::add_mark({902'000, 14, 114}));
    recorder::commit(t, call(902'100, 902'200, "MPI_Barrier"));
    *recorder::open_call(t) = call(902'300, 0, "MPI_Recv");
    *recorder::open_call(t) = call(1500, 0, "MPI_Wait");
    *recorder::take_pending() = call(902'250, 0, "MPI_Irecv");
    *recorder::take_pending() = call(1550, 0, "MPI_Irecv");
  }

  static void fill_mpi_and_nvtx(spool::Thread& t) {
    recorder::commit(t, call(1100, 1200, "MPI_Allreduce"));
    Event range = event(1050, 1300, HookId::kNvtxRange);
    range.name = recorder::intern("solve");
    range.nvtx.domain = 4;
    range.nvtx.category = 9;
    range.nvtx.payload_type = 3;
    range.nvtx.color = 0xff00ff00;
    recorder::commit(t, range);
    range.nvtx.extended = recorder::intern("{\"size\": [1, 2]}");
    range.flags = kStartEnd;
    range.nvtx.start_tid = 4243;
    recorder::commit(t, range);
    Event mark = event(1310, 1310, HookId::kNvtxMark);
    mark.name = recorder::intern("here");
    recorder::commit(t, mark);
    Event slice = call(1400, 1600, "MPI_Isend");
    slice.flags = kAsyncSlice;
    slice.mpi.request = 5;
    recorder::commit(t, slice);
  }

  static void fill_nccl(spool::Thread& t) {
    Event collective = event(1900, 1990, hooks::ncclAllReduce);
    collective.nccl = {
        .count = 8, .comm = 5, .sequence = 1, .peer = kNone32, .operation = 6, .datatype = 7, .bytes = 32};
    recorder::commit(t, collective);
    Event task = event(1910, 1910, HookId::kNcclTask);
    task.nccl_task = {.call = 1900,
                      .sequence = 1,
                      .function = recorder::intern("AllReduce"),
                      .algorithm = recorder::intern("RING"),
                      .protocol = recorder::intern("LL"),
                      .channels = 2,
                      .warps = 4,
                      .is_collective = 1};
    recorder::commit(t, task);
  }

  static void fill_polls(spool::Thread& t) {
    Event polls = event(1991, 1995, HookId::kMpiPolls);
    polls.polls = {.in_calls = 3,
                   .calls = {2, 1},
                   .functions = {hooks::MPI_Test, hooks::MPI_Iprobe},
                   .comm = 1,
                   .peer = 0,
                   .tag = 7};
    recorder::commit(t, polls);
  }

  static void fill_torch_operators(spool::Thread& t) {
    recorder::add_metadata("record_shapes", "1");
    recorder::add_metadata("with_flops", "1");
    Ticks at = 1992;
    for (const HookId hook : {HookId::kTorchOperator, HookId::kTorchBackward, HookId::kTorchRange}) {
      Event torch = event(at, at + 1, hook);
      torch.name = recorder::intern("aten::add");
      torch.torch = {.sequence = 3,
                     .dims = recorder::intern("[[2, 3], [[4]], []]"),
                     .strides = recorder::intern("[[3, 1], [[1]], []]"),
                     .types = recorder::intern(R"(["float", "TensorList", "Scalar"])"),
                     .values = recorder::intern(R"(["", "", "1"])"),
                     .stack = stack()};
      recorder::commit(t, torch);
      ++at;
    }
  }

  static void fill_torch_groups(spool::Thread& t) {
    Event in_group = event(1995, 1998, HookId::kTorchOperator);
    in_group.name = recorder::intern("c10d::_allgather_base_");
    in_group.element_type = 7;
    in_group.torch = {.sequence = kNoSequence, .dims = recorder::intern("[[4], [2], []]"), .group = 1};
    recorder::commit(t, in_group);
    Event work = event(1996, 1999, HookId::kTorchRange);
    work.name = recorder::intern("gloo:all_reduce");
    work.flags = kStartEnd;
    work.torch = {.record_function = 4242, .sequence = kNoSequence};
    recorder::commit(t, work);
    Event rpc = event(1996, 1999, HookId::kTorchRpc);
    rpc.name = recorder::intern("rpc_call#plus(a -> b)");
    rpc.rpc = {.id = 7, .bytes = 168, .from = recorder::intern("a"), .to = recorder::intern("b"), .stack = stack()};
    recorder::commit(t, rpc);
    rpc.flags = kStartEnd | kFailed;
    rpc.rpc.began_on = 4242;
    recorder::commit(t, rpc);
    Event memory = event(1998, 1998, HookId::kTorchMemory);
    memory.memory = {.address = 0x7f00, .bytes = -64, .allocated = 128, .device_index = -1};
    recorder::commit(t, memory);
  }

  static StringId stack() {
    std::string bytes;
    const auto add = [&bytes](const auto& value) { bytes.append(reinterpret_cast<const char*>(&value), sizeof value); };
    add(call_stack::Header{2, 2});
    add(recorder::intern("train.py(7): step"));
    add(recorder::intern("train.py(9): <module>"));
    add(std::uint64_t{0x1500});
    add(std::uint64_t{0x5000});
    return recorder::intern(bytes);
  }

  static void fill_device_block() {
    DeviceEvents device;
    device.call(1100, 1150, "cudaLaunchKernel", 41, 4242);
    device.kernel(1200, 1300, "_Z4saxpIfEvPT_", 41);
    device.call(1160, 0, "cudaDeviceSynchronize", 42, 0);
    device.copy(1310, 1400, 41, 4096);
    device.other(HookId::kMemset, 1400, 1410, {.correlation = 41, .kind = 3, .context = 1, .stream = 7, .bytes = 64});
    device.other(HookId::kGraphRun, 1410, 1500, {.correlation = 77, .context = 1, .stream = 13, .graph = 4});
    device.sync(1500, 1510, {.correlation = 41, .kind = 2, .context = 1, .stream = 7, .event = 3, .record = 41});
    device.overhead(1510, 1520, 5);
    device.memory(1520, {.correlation = 41, .kind = 1, .bytes = 64, .memory_kind = 3});
    Event call = event(1910, 1920, HookId::kCudaApi);
    call.api = {.correlation = 43, .tid = 4242, .external = 6};
    device.commit(call);
    device.kernel(2000, 2100, "ncclDevKernel_AllReduce_Sum_f32_RING_LL", 43, 20);
    Event peer = event(2100, 2200, HookId::kMemcpyPeer);
    peer.flags = kContinues;
    peer.gpu = {.correlation = 43, .device = 1, .kind = 10, .context = 1, .stream = 7, .bytes = 5};
    device.commit(peer);  // the last event lacks its continuation
  }

  std::uint64_t device_chunk() {
    for (std::uint32_t i = 0; i < kChunks; ++i) {
      if (first_run(i).tid == spool::kDeviceTid) return i;
    }
    std::abort();
  }

  spool::RunHeader& first_run(std::uint32_t i) {
    return *reinterpret_cast<spool::RunHeader*>(data_ + header().chunks_at + std::uint64_t{i} * spool::kChunkBytes +
                                                sizeof(spool::ChunkHeader));
  }

  static void name_run(const spool::Run& run) {
    auto& header = const_cast<spool::RunHeader&>(*run.header);
    if (header.tid == spool::kDeviceTid) return;
    header.tid = 4242;
    std::strcpy(header.name, "solver");
  }

  static void fill_to_the_end_of_the_run(spool::Thread& t) {
    // The calls lie before the windows, so that undamaged input makes small traces.
    while (t.chunk_end - t.next > 1) recorder::commit(t, call(500, 550, "MPI_Send"));
    Event exchange = call(2100, 2150, "MPI_Sendrecv");
    exchange.flags = kContinues;
    recorder::commit(t, exchange);
    exchange.hook = HookId::kContinuation;
    exchange.flags = 0;
    recorder::commit(t, exchange);
  }

  void fix_what_differs_from_run_to_run() {
    spool::SpoolHeader& h = header();
    h.pid = 4242;
    h.pid_start_time = 1;
    h.step_tid = 4242;
    reinterpret_cast<spool::Thread*>(data_ + h.threads_at)->tid.store(4242);
    std::string why_not;
    spool::View::in_memory(data_, size_, why_not)->for_each_run(name_run);
  }

  char* data_ = nullptr;
  std::size_t size_ = 0;
  std::array<Region, 11> regions_;
};

}  // namespace profshim::test
