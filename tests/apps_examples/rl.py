"""Reinforcement learning in the shape of verl's and slime's: a trainer, and engines that generate in processes of their own.

usage: rl.py trainer STEPS     rl.py engine TOKENS
"""
import os
import sys

import torch

from extension import library, nvtx_range

LAYERS, MICRO_BATCHES = 2, 3


def small_model():
    return torch.nn.Sequential(torch.nn.Linear(16, 32), torch.nn.ReLU(), torch.nn.Linear(32, 16))


def train(steps):
    model = small_model()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    for step in range(steps):
        with nvtx_range(f"rl_step {step}"):
            with nvtx_range("compute_log_prob"), torch.no_grad():
                library.forward(LAYERS)
                torch.log_softmax(model(torch.ones(8, 16)), dim=-1)
            with nvtx_range(f"actor_train {step}"):
                for batch in range(MICRO_BATCHES):
                    with nvtx_range(f"grad_step {batch}"):
                        library.forward(LAYERS)
                        loss = model(torch.ones(8, 16)).pow(2).mean()
                        library.backward(LAYERS)
                        loss.backward()
                        library.optimizer_step()
                        optimizer.step()
                        optimizer.zero_grad()
            with nvtx_range("update_weights"):
                library.optimizer_step()
    print(f"loss {loss.item():.6f}")


def generate(tokens):
    model = small_model()
    with torch.no_grad():
        for _ in range(tokens):
            with nvtx_range("engine decode"):
                library.decode()
                model(torch.ones(1, 16)).argmax()
    print(f"{tokens} tokens")


if __name__ == "__main__":
    library.use_device(int(os.environ["LOCAL_RANK"]))
    {"trainer": train, "engine": generate}[sys.argv[1]](int(sys.argv[2]))
    library.leave()
