"""A trainer that starts its own ranks, as that of Lightning with strategy="ddp" and devices=2.

The program that the user started is rank 0. It starts itself again for the other rank, with LOCAL_RANK but without
RANK; each rank computes its global rank and passes it to init_process_group(). A step is a closure that the optimizer
calls.

usage: starts_itself.py [--profiler] [--cuda]
  --profiler   pushes the ranges of Lightning's PyTorchProfiler, the first ones before the group exists
  --cuda       initializes CUDA before the group exists, as Lightning does by torch.cuda.set_device()
"""
import contextlib
import ctypes
import functools
import gc
import os
import socket
import subprocess
import sys

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel

DEVICES, NODES = 2, 1
BATCHES, EPOCHS = 10, 2


class Environment:
    """LightningEnvironment of Lightning."""

    def __init__(self):
        self.port = -1
        self.global_rank, self.world_size = 0, 1

    @property
    def creates_processes_externally(self):
        return "LOCAL_RANK" in os.environ

    @property
    def main_address(self):
        return os.environ.get("MASTER_ADDR", "127.0.0.1")

    @property
    def main_port(self):
        if self.port == -1:
            with socket.socket() as free:
                free.bind(("", 0))
                self.port = int(os.environ.get("MASTER_PORT", free.getsockname()[1]))
        return self.port

    def local_rank(self):
        return int(os.environ.get("LOCAL_RANK", 0))

    def node_rank(self):
        return int(os.environ.get("NODE_RANK", os.environ.get("GROUP_RANK", 0)))


def launch(environment):
    """_SubprocessScriptLauncher of Lightning."""
    if environment.creates_processes_externally:
        return []
    os.environ["MASTER_ADDR"] = environment.main_address
    os.environ["MASTER_PORT"] = str(environment.main_port)
    os.environ["NODE_RANK"] = str(environment.node_rank())
    os.environ["LOCAL_RANK"] = str(environment.local_rank())
    os.environ["WORLD_SIZE"] = f"{DEVICES * NODES}"
    started = []
    for local_rank in range(1, DEVICES):
        env_copy = os.environ.copy()
        env_copy["LOCAL_RANK"] = f"{local_rank}"
        command = [sys.executable, os.path.abspath(sys.argv[0])] + sys.argv[1:]
        started.append(subprocess.Popen(command, env=env_copy))
    return started


def setup_environment(environment):
    """DDPStrategy of Lightning: setup_device(), set_world_ranks() and _init_dist_connection()."""
    if "--cuda" in sys.argv[1:]:
        ctypes.CDLL("libcuda.so.1").cuInit(0)
    environment.global_rank = environment.node_rank() * DEVICES + environment.local_rank()
    environment.world_size = NODES * DEVICES
    os.environ["MASTER_ADDR"] = environment.main_address
    os.environ["MASTER_PORT"] = str(environment.main_port)
    dist.init_process_group("gloo", rank=environment.global_rank, world_size=environment.world_size)


class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = torch.nn.Sequential(torch.nn.Linear(32, 64), torch.nn.ReLU(), torch.nn.Linear(64, 8))

    def forward(self, batch):
        return self.layers(batch).pow(2).mean()


class Trainer:
    def __init__(self, has_profiler):
        self.has_profiler = has_profiler
        self.environment = Environment()

    def profile(self, action):
        return torch.profiler.record_function("[pl][profile]" + action) if self.has_profiler else contextlib.nullcontext()

    def hook(self, name):
        return self.profile(f"[LightningModule]Model.{name}")

    def strategy_hook(self, name):
        return self.profile(f"[Strategy]DDPStrategy.{name}")

    def fit(self, model):
        started = launch(self.environment)
        torch.set_num_threads(1)
        with self.hook("configure_callbacks"):
            pass
        setup_environment(self.environment)
        with self.hook("setup"):
            torch.manual_seed(self.environment.global_rank)
        loss = self.run(model)
        if self.environment.global_rank == 0:
            print(f"loss {loss.item():.6f}", flush=True)
        gc.collect()  # see train_ddp.py
        dist.destroy_process_group()
        del os.environ["WORLD_SIZE"]
        if any(process.wait() != 0 for process in started):
            sys.exit(1)

    def run(self, model):
        with self.strategy_hook("setup"):
            wrapped = DistributedDataParallel(model)
        with self.hook("configure_optimizers"):
            optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
        for _ in range(EPOCHS):
            data = iter(torch.utils.data.DataLoader(torch.randn(16 * BATCHES, 32), batch_size=16))
            with self.profile("run_training_epoch"):
                for _ in range(BATCHES):
                    loss = self.run_batch(wrapped, optimizer, data)
        return loss

    def run_batch(self, model, optimizer, data):
        with self.profile("[_TrainingEpochLoop].train_dataloader_next"):
            batch = next(data)
        with self.strategy_hook("batch_to_device"):
            batch = batch.to("cpu")
        with self.profile("run_training_batch"), self.hook("optimizer_step"):
            loss = optimizer.step(closure=functools.partial(self.closure, model, optimizer, batch))
        with self.hook("on_train_batch_end"):
            return loss

    @torch.enable_grad()
    def closure(self, model, optimizer, batch):
        with self.strategy_hook("training_step"):
            loss = model(batch)
        with self.hook("optimizer_zero_grad"):
            optimizer.zero_grad()
        with self.strategy_hook("backward"):
            loss.backward()
        with self.hook("on_before_optimizer_step"):
            return loss.detach().clone()


if __name__ == "__main__":
    torch.manual_seed(0)  # each rank runs the whole program of the user
    user_model = Model()
    Trainer("--profiler" in sys.argv[1:]).fit(user_model)
