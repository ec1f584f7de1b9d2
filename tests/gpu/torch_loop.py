"""A PyTorch training loop that knows nothing of profshim, for scripts/gpu_check.sh. Steps are NVTX ranges "step N".

  torch_loop.py STEPS [--launches K] [--ddp] [--torch-profile FIRST LAST FILE]

--launches K: instead of training, K tiny kernels per step. --ddp: gradients are reduced by NCCL, as torchrun starts it.
--torch-profile: torch.profiler records the steps FIRST to LAST into FILE. Prints "step_ns STEP NANOSECONDS".
"""
import argparse
import os
import time

import torch


def arguments():
    parser = argparse.ArgumentParser()
    parser.add_argument("steps", type=int)
    parser.add_argument("--launches", type=int, default=0)
    parser.add_argument("--ddp", action="store_true")
    parser.add_argument("--torch-profile", nargs=3, metavar=("FIRST", "LAST", "FILE"))
    return parser.parse_args()


def make_step(options, device):
    if options.launches:
        x = torch.zeros(32, device=device)

        def launches():
            for _ in range(options.launches):
                x.add_(1)

        return launches
    torch.manual_seed(0)
    layers = []
    for _ in range(8):
        layers += [torch.nn.Linear(2048, 2048), torch.nn.GELU(), torch.nn.LayerNorm(2048)]
    model = torch.nn.Sequential(*layers).to(device)
    if options.ddp:
        model = torch.nn.parallel.DistributedDataParallel(model, device_ids=[device.index])
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4, fused=True)
    data = torch.randn(2048, 2048, device=device)

    def train():
        optimizer.zero_grad(set_to_none=True)
        model(data).square().mean().backward()
        optimizer.step()

    return train


def main():
    options = arguments()
    device = torch.device("cuda", 0)
    torch.cuda.set_device(device)
    if options.ddp:
        torch.distributed.init_process_group("nccl", device_id=device)
    step = make_step(options, device)
    profiler = None
    first, last = (int(options.torch_profile[0]), int(options.torch_profile[1])) if options.torch_profile else (-1, -1)
    for n in range(options.steps):
        if n == first:
            activities = [torch.profiler.ProfilerActivity.CPU, torch.profiler.ProfilerActivity.CUDA]
            profiler = torch.profiler.profile(activities=activities)
            profiler.start()
        torch.cuda.nvtx.range_push(f"step {n}")
        begin = time.perf_counter_ns()
        if first <= n <= last:
            with torch.profiler.record_function(f"ProfilerStep#{n}"):
                step()
                torch.cuda.synchronize()
        else:
            step()
            torch.cuda.synchronize()
        print("step_ns", n, time.perf_counter_ns() - begin, flush=True)
        torch.cuda.nvtx.range_pop()
        if n == last:
            profiler.stop()
            profiler.export_chrome_trace(options.torch_profile[2])
    if options.ddp:
        torch.distributed.destroy_process_group()
    print("done on", torch.cuda.get_device_name(device), "rank", os.environ.get("RANK", "0"))


if __name__ == "__main__":
    main()
