"""Training with gradients accumulated over four micro-batches and clipped.

steps: 30
"""

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(3)
torch.set_num_threads(1)

dataset = TensorDataset(torch.randn(960, 16, 64), torch.randint(0, 5, (960,)))
loader = DataLoader(dataset, batch_size=8, shuffle=True)


class Classifier(nn.Module):
    def __init__(self):
        super().__init__()
        layer = nn.TransformerEncoderLayer(64, 4, 128, batch_first=True)
        self.encoder = nn.TransformerEncoder(layer, 2)
        self.head = nn.Linear(64, 5)

    def forward(self, x):
        return self.head(self.encoder(x).mean(dim=1))


model = Classifier()
criterion = nn.CrossEntropyLoss()
optimizer = torch.optim.AdamW(model.parameters(), lr=3e-4)
accumulation_steps = 4

steps = 0
optimizer.zero_grad()
for i, (x, y) in enumerate(loader):
    loss = criterion(model(x), y) / accumulation_steps
    loss.backward()
    if (i + 1) % accumulation_steps == 0:
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        optimizer.zero_grad()
        steps += 1

print("steps:", steps)
