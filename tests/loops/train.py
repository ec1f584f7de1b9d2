"""Plain classifier training loop on fresh random batches.

steps: 60
"""

import torch
from torch import nn

torch.manual_seed(0)
torch.set_num_threads(1)

model = nn.Sequential(
    nn.Linear(256, 256),
    nn.ReLU(),
    nn.Linear(256, 256),
    nn.ReLU(),
    nn.Linear(256, 10),
)
criterion = nn.CrossEntropyLoss()
optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)

model.train()
steps = 0
for step in range(60):
    inputs = torch.randn(64, 256)
    labels = torch.randint(0, 10, (64,))
    optimizer.zero_grad()
    outputs = model(inputs)
    loss = criterion(outputs, labels)
    loss.backward()
    optimizer.step()
    steps += 1
    if step % 10 == 0:
        print(f"step {step}: loss {loss.item():.4f}")

print("steps:", steps)
