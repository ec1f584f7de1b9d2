"""Training that waits for its data: each item of the dataset takes 5 ms.

steps: 40
"""

import time

import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset

torch.manual_seed(20)
torch.set_num_threads(1)


class SlowDataset(Dataset):
    def __len__(self):
        return 160

    def __getitem__(self, index):
        time.sleep(0.005)
        generator = torch.Generator().manual_seed(index)
        return torch.randn(256, generator=generator), index % 10


loader = DataLoader(SlowDataset(), batch_size=8, shuffle=True)
model = nn.Sequential(nn.Linear(256, 256), nn.ReLU(), nn.Linear(256, 10))
criterion = nn.CrossEntropyLoss()
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)

steps = 0
for epoch in range(2):
    for i, (inputs, labels) in enumerate(loader):
        optimizer.zero_grad()
        loss = criterion(model(inputs), labels)
        loss.backward()
        optimizer.step()
        steps += 1
    print(f"epoch {epoch}: loss {loss.item():.4f}")

print("steps:", steps)
