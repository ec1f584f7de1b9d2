"""Pre-trains a small language model in parallel, with one NVTX range a step, as Megatron-Bridge does.

usage: pretrain.py STEPS [FIRST_STEP]     FIRST_STEP is that of a resumed run
"""
import os
import sys

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel

from extension import join_nccl, library, nvtx_range

LAYERS = 4


def main(steps, first=0):
    dist.init_process_group("gloo")
    library.use_device(int(os.environ["LOCAL_RANK"]))
    join_nccl(dist.get_rank(), dist.get_world_size(), lambda objects: dist.broadcast_object_list(objects, 0))
    torch.manual_seed(dist.get_rank())
    model = DistributedDataParallel(
        torch.nn.Sequential(torch.nn.Embedding(64, 32), torch.nn.Linear(32, 64), torch.nn.ReLU(), torch.nn.Linear(64, 64))
    )
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)

    for step in range(first, first + steps):
        with nvtx_range(f"training_step_{step}"):
            tokens = torch.randint(0, 64, (4, 16))
            library.forward(LAYERS)
            loss = torch.nn.functional.cross_entropy(model(tokens).flatten(0, 1), tokens.flatten())
            library.backward(LAYERS)
            loss.backward()
            library.all_reduce()
            library.optimizer_step()
            optimizer.step()
            optimizer.zero_grad()
    if dist.get_rank() == 0:
        print(f"loss {loss.item():.6f}")
    library.leave()
    del model
    dist.destroy_process_group()


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
