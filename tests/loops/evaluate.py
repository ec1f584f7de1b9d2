"""Evaluation of a classifier over a DataLoader, without an optimizer.

steps: 40
"""

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(10)
torch.set_num_threads(1)

test_set = TensorDataset(torch.randn(1280, 3, 24, 24), torch.randint(0, 10, (1280,)))
test_loader = DataLoader(test_set, batch_size=32)

model = nn.Sequential(
    nn.Conv2d(3, 32, 3, padding=1),
    nn.ReLU(),
    nn.MaxPool2d(2),
    nn.Conv2d(32, 64, 3, padding=1),
    nn.ReLU(),
    nn.AdaptiveAvgPool2d(1),
    nn.Flatten(),
    nn.Linear(64, 10),
)
model.eval()

steps = 0
correct = 0
test_loss = 0.0
with torch.no_grad():
    for images, labels in test_loader:
        outputs = model(images)
        test_loss += nn.functional.cross_entropy(outputs, labels, reduction="sum").item()
        correct += (outputs.argmax(dim=1) == labels).sum().item()
        steps += 1

print(f"loss {test_loss / len(test_set):.4f} accuracy {correct / len(test_set):.3f}")
print("steps:", steps)
