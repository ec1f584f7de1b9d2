"""A PyTorch training loop without calls to profshim, for scripts/gpu_check.sh. Steps are NVTX ranges "step N".

  torch_loop.py STEPS [WORK] [OPTION...]

WORK is what a step does; by default it trains a model:
  --launches K       K tiny kernels
  --collectives      collectives of NCCL on one or more ranks, each of which launches an activity
  --cuda-graph       training that is captured in a CUDA graph before step 0 and replayed
  --compile          training of a model under torch.compile(mode="reduce-overhead")
  --ddp              training with DistributedDataParallel over NCCL, as torchrun starts it
Options:
  --small            a model of 2 layers of 256 instead of 8 of 2048
  --allocations      prints the allocations and releases of a step: "per_step allocation N", "per_step release N"
  --torch-profile FIRST LAST FILE   torch.profiler records the steps FIRST to LAST into FILE
  --with-stack       torch.profiler records Python calls, too
  --exhaust STEP     an allocation of 64 TiB in that step; prints "at_error traces N pages N", the files below
                     $GPU_JOB_FOLDER at its error
  --init-for-cuda-graphs STEP       an empty session of torch.profiler before that step
  --device cpu       runs without a GPU, to test the options

Prints "step_ns STEP NANOSECONDS" for each step and "push_ns STEP NANOSECONDS" for the begin of its range.
"""
import argparse
import os
import time

import torch


def arguments():
    parser = argparse.ArgumentParser()
    parser.add_argument("steps", type=int)
    parser.add_argument("--launches", type=int, default=0)
    parser.add_argument("--collectives", action="store_true")
    parser.add_argument("--cuda-graph", action="store_true")
    parser.add_argument("--compile", action="store_true")
    parser.add_argument("--ddp", action="store_true")
    parser.add_argument("--small", action="store_true")
    parser.add_argument("--allocations", action="store_true")
    parser.add_argument("--torch-profile", nargs=3, metavar=("FIRST", "LAST", "FILE"))
    parser.add_argument("--with-stack", action="store_true")
    parser.add_argument("--exhaust", type=int, default=-1, metavar="STEP")
    parser.add_argument("--init-for-cuda-graphs", type=int, default=-1, metavar="STEP")
    parser.add_argument("--device", default="cuda", choices=("cuda", "cpu"))
    return parser.parse_args()


class Device:
    """The GPU, or the CPU with --device cpu."""

    def __init__(self, kind):
        self.on_gpu = kind == "cuda"
        self.device = torch.device("cuda", 0) if self.on_gpu else torch.device("cpu")
        if self.on_gpu:
            torch.cuda.set_device(self.device)

    def synchronize(self):
        if self.on_gpu:
            torch.cuda.synchronize()

    def push(self, name):
        if self.on_gpu:
            torch.cuda.nvtx.range_push(name)

    def pop(self):
        if self.on_gpu:
            torch.cuda.nvtx.range_pop()

    def blocks(self):
        """Returns the allocations and releases of the caching allocator so far."""
        if not self.on_gpu:
            return 0, 0
        statistics = torch.cuda.memory_stats()
        return statistics["allocation.all.allocated"], statistics["allocation.all.freed"]


def join_group(device):
    backend = "nccl" if device.on_gpu else "gloo"
    more = {"device_id": device.device} if device.on_gpu else {}
    if "MASTER_ADDR" not in os.environ:  # not started by torchrun
        more.update(store=torch.distributed.HashStore(), rank=0, world_size=1)
    torch.distributed.init_process_group(backend, **more)


def make_launches(options, device):
    x = torch.zeros(32, device=device.device)

    def launches():
        for _ in range(options.launches):
            x.add_(1)

    return launches


def make_collectives(device):
    """On one rank NCCL does nothing for a sum in place, copies for operations out of place, and launches a kernel for
    a sum with a factor."""
    size = torch.distributed.get_world_size()
    data = torch.ones(1 << 20, device=device.device)
    gathered = torch.empty(size * data.numel(), device=device.device)
    part = torch.empty(data.numel() // size, device=device.device)
    if not device.on_gpu:
        return lambda: torch.distributed.all_reduce(data)
    scaled = torch.distributed._make_nccl_premul_sum(0.5)

    def collectives():
        torch.distributed.all_reduce(data, op=scaled)
        torch.distributed.all_gather_into_tensor(gathered, data)
        torch.distributed.reduce_scatter_tensor(part, data)

    return collectives


def make_training(options, device):
    torch.manual_seed(0)
    layers, width = [], 256 if options.small else 2048
    for _ in range(2 if options.small else 8):
        layers += [torch.nn.Linear(width, width), torch.nn.GELU(), torch.nn.LayerNorm(width)]
    model = torch.nn.Sequential(*layers).to(device.device)
    if options.ddp:
        model = torch.nn.parallel.DistributedDataParallel(model, device_ids=[0] if device.on_gpu else None)
    if options.compile:
        model = torch.compile(model, mode="reduce-overhead")
    more = {"fused": True, "capturable": options.cuda_graph} if device.on_gpu else {}
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4, **more)
    data = torch.randn(width, width, device=device.device)

    def train():
        if options.compile:
            torch.compiler.cudagraph_mark_step_begin()
        optimizer.zero_grad(set_to_none=True)
        model(data).square().mean().backward()
        optimizer.step()

    return train


def captured(work):
    """Captures `work` as a CUDA graph. Runs it three times on a side stream before, as PyTorch requires."""
    stream = torch.cuda.Stream()
    stream.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(stream):
        for _ in range(3):
            work()
    torch.cuda.current_stream().wait_stream(stream)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        work()
    return graph.replay


def make_step(options, device):
    if options.launches:
        return make_launches(options, device)
    if options.collectives:
        return make_collectives(device)
    train = make_training(options, device)
    return captured(train) if options.cuda_graph and device.on_gpu else train


def empty_profiler_session():
    try:
        from torch.profiler._utils import _init_for_cuda_graphs
    except ImportError:
        with torch.profiler.profile():
            pass
    else:
        _init_for_cuda_graphs()


class TorchProfile:
    """Runs torch.profiler for some steps."""

    def __init__(self, words, on_gpu, with_stack):
        self.with_stack = with_stack
        self.first, self.last, self.file = (int(words[0]), int(words[1]), words[2]) if words else (-1, -1, "")
        self.activities = [torch.profiler.ProfilerActivity.CPU]
        if on_gpu:
            self.activities.append(torch.profiler.ProfilerActivity.CUDA)
        self.profiler = None

    def before(self, step):
        if step == self.first:
            self.profiler = torch.profiler.profile(activities=self.activities, with_stack=self.with_stack)
            self.profiler.start()

    def run(self, step, work):
        if self.first <= step <= self.last:
            with torch.profiler.record_function(f"ProfilerStep#{step}"):
                work()
        else:
            work()

    def after(self, step):
        if step == self.last:
            self.profiler.stop()
            self.profiler.export_chrome_trace(self.file)


def exhaust(device):
    try:
        torch.empty(1 << 46, dtype=torch.uint8, device=device.device)
    except RuntimeError:
        folder = os.environ.get("GPU_JOB_FOLDER", "")
        names = [name for _, _, names in os.walk(folder) for name in names]
        print("at_error traces", sum(name.endswith(".pt.trace.json") for name in names),
              "pages", sum(name.endswith(".memory.html") for name in names))


def run_steps(options, device, step):
    profile = TorchProfile(options.torch_profile, device.on_gpu, options.with_stack)
    least_ns = int(os.environ.get("GPU_JOB_STEP_MS", "0")) * 1_000_000
    blocks = (0, 0)

    def work():
        step()
        device.synchronize()

    for n in range(options.steps):
        if n == options.init_for_cuda_graphs:
            empty_profiler_session()
        profile.before(n)
        before = device.blocks() if options.allocations else blocks
        pushed = time.perf_counter_ns()
        device.push(f"step {n}")
        begin = time.perf_counter_ns()
        profile.run(n, work)
        if n == options.exhaust:
            exhaust(device)
        end = time.perf_counter_ns()
        device.pop()
        print("step_ns", n, end - begin)
        print("push_ns", n, begin - pushed, flush=True)
        if options.allocations:
            after = device.blocks()
            blocks = (after[0] - before[0], after[1] - before[1])
        profile.after(n)
        time.sleep(max(0, pushed + least_ns - time.perf_counter_ns()) / 1e9)
    if options.allocations:
        print("per_step allocation", blocks[0])
        print("per_step release", blocks[1])


def main():
    options = arguments()
    device = Device(options.device)
    in_group = options.ddp or options.collectives
    if in_group:
        join_group(device)
    run_steps(options, device, make_step(options, device))
    if in_group:
        torch.distributed.destroy_process_group()
    print("done on", torch.cuda.get_device_name(device.device) if device.on_gpu else "the CPU", "rank",
          os.environ.get("RANK", "0"))


if __name__ == "__main__":
    main()
