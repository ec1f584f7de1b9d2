"""Trains a small network with a torch.compile'd model, as in the recipe of PyTorch; needs g++.

steps: 40
"""
import torch
from torch import nn


def get_data(batch):
    return torch.randn(batch, 32), torch.randint(0, 10, (batch,))


def main():
    torch.set_num_threads(1)
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(32, 128), nn.GELU(), nn.LayerNorm(128), nn.Linear(128, 10))
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    criterion = nn.CrossEntropyLoss()
    compiled = torch.compile(model)
    steps = 0
    for _ in range(40):
        inputs, labels = get_data(64)
        optimizer.zero_grad(True)
        loss = criterion(compiled(inputs), labels)
        loss.backward()
        optimizer.step()
        steps += 1
    print("steps:", steps, "loss:", round(loss.item(), 3))
    assert steps == 40


if __name__ == "__main__":
    main()
