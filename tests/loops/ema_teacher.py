"""Self-distillation with a momentum teacher, as in BYOL and DINO.

steps: 50
"""

import copy

import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(19)
torch.set_num_threads(1)

loader = DataLoader(TensorDataset(torch.randn(1600, 3, 16, 16)), batch_size=32, shuffle=True, drop_last=True)

student = nn.Sequential(
    nn.Conv2d(3, 16, 3, stride=2, padding=1),
    nn.BatchNorm2d(16),
    nn.ReLU(),
    nn.Conv2d(16, 32, 3, stride=2, padding=1),
    nn.ReLU(),
    nn.Flatten(),
    nn.Linear(32 * 4 * 4, 64),
)
predictor = nn.Sequential(nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 64))
teacher = copy.deepcopy(student)
for p in teacher.parameters():
    p.requires_grad = False
optimizer = torch.optim.SGD(
    list(student.parameters()) + list(predictor.parameters()), lr=0.05, momentum=0.9, weight_decay=1e-4
)


def augment(x):
    x = torch.flip(x, dims=[3]) if torch.rand(1).item() < 0.5 else x
    return x + 0.1 * torch.randn_like(x)


steps = 0
for (images,) in loader:
    view1, view2 = augment(images), augment(images)
    p1, p2 = predictor(student(view1)), predictor(student(view2))
    with torch.no_grad():
        t1, t2 = teacher(view1), teacher(view2)
    loss = -(F.cosine_similarity(p1, t2).mean() + F.cosine_similarity(p2, t1).mean()) / 2
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    with torch.no_grad():
        for p_student, p_teacher in zip(student.parameters(), teacher.parameters()):
            p_teacher.data.mul_(0.99).add_(p_student.data, alpha=0.01)
    steps += 1

print("steps:", steps)
