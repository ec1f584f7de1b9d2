"""Two workers that make every kind of call: functions of Python, TorchScript and PyTorch, methods of an RRef's object,
calls that fail, time out or call another worker."""
import os
import time

import torch
import torch.distributed.autograd as dist_autograd
import torch.distributed.rpc as rpc


def plus(a, b):
    return a + b


def fails():
    raise ValueError("no")


def sleeps():
    time.sleep(1)


@torch.jit.script
def scripted(x):
    return x + 1


@rpc.functions.async_execution
def passes_on(x):
    return rpc.rpc_async("worker1", torch.add, args=(x, 1))


class Scale:
    def __init__(self, factor):
        self.factor = factor

    def times(self, x):
        return x * self.factor

    @staticmethod
    def same(x):
        return x


def call():
    x = torch.ones(3)
    print(rpc.rpc_sync("worker1", torch.add, args=(x, 1)))
    print(rpc.rpc_sync("worker1", plus, args=(x, 2)))
    print(rpc.rpc_async("worker1", Scale.same, args=(x,)).wait())
    print(rpc.remote("worker1", Scale, args=(3,)).rpc_sync().times(x))
    print(rpc.remote("worker1", torch.mul, args=(x, 5)).to_here())
    print(rpc.rpc_sync("worker1", scripted, args=(x,)))
    print(rpc.rpc_sync("worker1", passes_on, args=(x,)))
    try:
        rpc.rpc_sync("worker1", fails)
    except ValueError:
        print("failed")
    try:
        rpc.rpc_sync("worker1", sleeps, timeout=0.2)
    except RuntimeError:
        print("too late")
    with dist_autograd.context() as context:
        y = torch.ones(3, requires_grad=True)
        dist_autograd.backward(context, [rpc.rpc_sync("worker1", plus, args=(y, y)).sum()])


if __name__ == "__main__":
    rank = int(os.environ["RANK"])
    rpc.init_rpc(f"worker{rank}", rank=rank, world_size=2)
    if rank == 0:
        call()
    rpc.shutdown()
