"""Training with FSDP over gloo on the CPU: FullyShardedDataParallel, or fully_shard with --second."""
import argparse
import gc

import torch
import torch.distributed as dist
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import FullyShardedDataParallel, fully_shard

from operator_counts import OperatorCounts


def train(options):
    torch.manual_seed(0)
    model = torch.nn.Sequential(torch.nn.Linear(32, 64), torch.nn.ReLU(), torch.nn.Linear(64, 8))
    if options.second:
        mesh = init_device_mesh("cpu", (dist.get_world_size(),))
        for layer in (model[0], model[2], model):
            fully_shard(layer, mesh=mesh)
    else:
        model = FullyShardedDataParallel(model, device_id=torch.device("cpu"))
    optimizer = torch.optim.AdamW(model.parameters(), lr=0.01)
    counts = OperatorCounts(options.counts, dist.get_rank())

    torch.manual_seed(dist.get_rank())
    for step in range(20):
        loss = model(torch.randn(16, 32)).pow(2).mean()
        loss.backward()
        optimizer.step()
        counts.after_step(step)
        optimizer.zero_grad()

    if dist.get_rank() == 0:
        print(f"loss {loss.item():.6f}")
    counts.write()


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--counts")
    parser.add_argument("--second", action="store_true")
    dist.init_process_group("gloo")
    train(parser.parse_args())
    gc.collect()  # see train_ddp.py
    dist.destroy_process_group()
