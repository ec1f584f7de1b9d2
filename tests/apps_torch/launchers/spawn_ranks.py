"""Starts the ranks as its own children, without a launcher. They learn their rank only after `import torch`.

usage: spawn_ranks.py [--by-argument]
  --by-argument   only the arguments of init_process_group() name the rank, and this program itself uses PyTorch
"""
import gc
import os
import sys

import torch
import torch.distributed as dist
import torch.multiprocessing
from torch.nn.parallel import DistributedDataParallel

RANKS = 2


def work(rank, by_argument):
    if by_argument:
        torch.zeros(2).add(1)
        dist.init_process_group("gloo", rank=rank, world_size=RANKS)
    else:
        os.environ.update(RANK=str(rank), LOCAL_RANK=str(rank), WORLD_SIZE=str(RANKS), LOCAL_WORLD_SIZE=str(RANKS))
        dist.init_process_group("gloo")
    train(rank)
    gc.collect()  # see train_ddp.py
    dist.destroy_process_group()


def train(rank):
    torch.manual_seed(rank)
    model = DistributedDataParallel(torch.nn.Linear(32, 8))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    for _ in range(20):
        loss = model(torch.randn(16, 32)).pow(2).mean()
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
    if rank == 0:
        print(f"loss {loss.item():.6f}")


if __name__ == "__main__":
    option = len(sys.argv) > 1
    if option:
        torch.ones(3).sum()
    torch.multiprocessing.spawn(work, (option,), nprocs=RANKS)
    print("done")
