"""Two workers that call each other: rank 0 trains, rank 1 holds half of the model. They use
torch.distributed.autograd and torch.distributed.optim."""
import os

import torch
import torch.distributed.autograd as dist_autograd
import torch.distributed.rpc as rpc
from torch.distributed.optim import DistributedOptimizer

STEPS = 20


class Half(torch.nn.Module):
    def __init__(self):
        super().__init__()
        torch.manual_seed(1)
        self.layer = torch.nn.Linear(32, 8)

    def forward(self, x):
        return self.layer(x)

    def parameter_references(self):
        return [rpc.RRef(parameter) for parameter in self.parameters()]


def train():
    torch.manual_seed(0)
    mine = torch.nn.Linear(16, 32)
    theirs = rpc.remote("worker1", Half)
    parameters = [rpc.RRef(parameter) for parameter in mine.parameters()]
    parameters += theirs.rpc_sync().parameter_references()
    optimizer = DistributedOptimizer(torch.optim.SGD, parameters, lr=0.05)
    for _ in range(STEPS):
        with dist_autograd.context() as context:
            loss = theirs.rpc_sync().forward(torch.relu(mine(torch.randn(16, 16)))).pow(2).mean()
            dist_autograd.backward(context, [loss])
            optimizer.step(context)
    print(f"loss {loss.item():.6f}")


if __name__ == "__main__":
    rank = int(os.environ["RANK"])
    rpc.init_rpc(f"worker{rank}", rank=rank, world_size=2)
    if rank == 0:
        train()
    rpc.shutdown()
