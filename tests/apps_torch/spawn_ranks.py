"""No launcher: the ranks are children of this program, and learn late who they are."""
import gc
import os

import torch
import torch.distributed as dist
import torch.multiprocessing
from torch.nn.parallel import DistributedDataParallel

RANKS = 2


def work(rank):
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
    torch.multiprocessing.spawn(work, nprocs=RANKS)
    print("done")
