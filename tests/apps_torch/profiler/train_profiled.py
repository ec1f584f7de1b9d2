"""Data-parallel training over gloo with other collectives between the steps; torch.profiler writes FOLDER/rankN.json.

usage: train_profiled.py [FOLDER]    (no profiler without FOLDER)
"""
import contextlib
import gc
import sys

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel
from torch.profiler import ProfilerActivity, profile, schedule

STEPS = 20


def profiler():
    if len(sys.argv) < 2:
        return contextlib.nullcontext()
    path = f"{sys.argv[1]}/rank{dist.get_rank()}.json"
    return profile(
        activities=[ProfilerActivity.CPU],
        schedule=schedule(wait=4, warmup=1, active=10, repeat=1),
        on_trace_ready=lambda done: done.export_chrome_trace(path),
    )


def main():
    dist.init_process_group("gloo")
    torch.manual_seed(0)
    model = DistributedDataParallel(torch.nn.Sequential(torch.nn.Linear(32, 64), torch.nn.ReLU(), torch.nn.Linear(64, 8)))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    with profiler() as active:
        for _ in range(STEPS):
            loss = model(torch.randn(16, 32)).pow(2).mean()
            loss.backward()
            optimizer.step()
            optimizer.zero_grad()
            dist.all_reduce(loss.detach())
            dist.barrier()
            dist.broadcast(torch.ones(3), src=0)
            dist.all_gather([torch.empty(5) for _ in range(dist.get_world_size())], torch.ones(5))
            if active is not None:
                active.step()
    if dist.get_rank() == 0:
        print(f"loss {loss.item():.6f}")
    del model
    gc.collect()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
