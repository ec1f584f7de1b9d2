"""Trains a small network with a compiled train step and a compiled optimizer step and scheduler; needs g++.

steps: 40
"""
import torch
from torch import nn


def main():
    torch.set_num_threads(1)
    torch.manual_seed(0)
    model = nn.Sequential(*[nn.Linear(64, 64, bias=False) for _ in range(4)])
    optimizer = torch.optim.Adam(model.parameters(), lr=torch.tensor(0.01))
    scheduler = torch.optim.lr_scheduler.LinearLR(optimizer, total_iters=5)

    @torch.compile
    def forward_loss(batch):
        return (model(batch) - batch).square().mean()

    @torch.compile(fullgraph=False)
    def optimizer_step():
        optimizer.step()
        scheduler.step()

    steps = 0
    for _ in range(40):
        loss = forward_loss(torch.rand(32, 64))
        loss.backward()
        optimizer_step()
        optimizer.zero_grad()
        steps += 1
    print("steps:", steps)
    assert steps == 40


if __name__ == "__main__":
    main()
