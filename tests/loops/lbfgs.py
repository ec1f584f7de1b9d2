"""Sine wave regression with LBFGS and a closure.

steps: 20
"""

import torch
from torch import nn

torch.manual_seed(15)
torch.set_num_threads(1)

x = torch.linspace(-3, 3, 512).unsqueeze(1)
y = torch.sin(2 * x) + 0.05 * torch.randn_like(x)

model = nn.Sequential(nn.Linear(1, 64), nn.Tanh(), nn.Linear(64, 64), nn.Tanh(), nn.Linear(64, 1))
criterion = nn.MSELoss()
optimizer = torch.optim.LBFGS(model.parameters(), lr=0.8, max_iter=20)

steps = 0
for i in range(20):

    def closure():
        optimizer.zero_grad()
        loss = criterion(model(x), y)
        loss.backward()
        return loss

    loss = optimizer.step(closure)
    steps += 1
    print(f"step {i}: loss {loss.item():.6f}")

print("steps:", steps)
