"""Evaluation in a plain loop over slices of a tensor, without a DataLoader.

steps: 40
"""

import torch
from torch import nn

torch.manual_seed(11)
torch.set_num_threads(1)

images = torch.randn(1280, 3, 24, 24)
labels = torch.randint(0, 10, (1280,))
batch_size = 32

model = nn.Sequential(
    nn.Conv2d(3, 32, 3, padding=1),
    nn.BatchNorm2d(32),
    nn.ReLU(),
    nn.MaxPool2d(2),
    nn.Conv2d(32, 64, 3, padding=1),
    nn.BatchNorm2d(64),
    nn.ReLU(),
    nn.AdaptiveAvgPool2d(1),
    nn.Flatten(),
    nn.Linear(64, 10),
)
model.eval()

steps = 0
correct = 0
with torch.inference_mode():
    for start in range(0, len(images), batch_size):
        batch = images[start:start + batch_size]
        target = labels[start:start + batch_size]
        prediction = model(batch).argmax(dim=1)
        correct += (prediction == target).sum().item()
        steps += 1

print(f"accuracy {correct / len(images):.3f}")
print("steps:", steps)
