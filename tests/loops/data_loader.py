"""Classifier trained from a DataLoader for three epochs without validation.

steps: 60
"""

import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(1)
torch.set_num_threads(1)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv1 = nn.Conv2d(1, 8, 3)
        self.conv2 = nn.Conv2d(8, 16, 3)
        self.fc = nn.Linear(16 * 12 * 12, 10)

    def forward(self, x):
        x = F.relu(self.conv1(x))
        x = F.max_pool2d(F.relu(self.conv2(x)), 2)
        return self.fc(torch.flatten(x, 1))


images = torch.randn(1280, 1, 28, 28)
labels = torch.randint(0, 10, (1280,))
train_loader = DataLoader(TensorDataset(images, labels), batch_size=64, shuffle=True)

model = Net()
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)

steps = 0
for epoch in range(3):
    running_loss = 0.0
    for data, target in train_loader:
        optimizer.zero_grad()
        loss = F.cross_entropy(model(data), target)
        loss.backward()
        optimizer.step()
        running_loss += loss.item()
        steps += 1
    print(f"epoch {epoch}: loss {running_loss / len(train_loader):.4f}")

print("steps:", steps)
