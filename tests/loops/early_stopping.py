"""Training that stops when the validation loss no longer improves.

steps: 80
"""

import copy

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(21)
torch.set_num_threads(1)

x = torch.randn(768, 64)
y = x[:, :1] * 2 + torch.randn(768, 1)
train_loader = DataLoader(TensorDataset(x[:512], y[:512]), batch_size=64, shuffle=True)
val_loader = DataLoader(TensorDataset(x[512:], y[512:]), batch_size=64)

model = nn.Sequential(nn.Linear(64, 256), nn.ReLU(), nn.Linear(256, 256), nn.ReLU(), nn.Linear(256, 1))
loss_fn = nn.MSELoss()
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)

best_loss, best_state, bad_epochs, patience = float("inf"), None, 0, 3
steps = 0
for epoch in range(100):
    model.train()
    for inputs, targets in train_loader:
        optimizer.zero_grad()
        loss = loss_fn(model(inputs), targets)
        loss.backward()
        optimizer.step()
        steps += 1

    model.eval()
    val_loss = 0.0
    with torch.no_grad():
        for inputs, targets in val_loader:
            val_loss += loss_fn(model(inputs), targets).item()
    val_loss /= len(val_loader)
    print(f"epoch {epoch}: validation loss {val_loss:.4f}")

    if val_loss < best_loss:
        best_loss, bad_epochs = val_loss, 0
        best_state = copy.deepcopy(model.state_dict())
    else:
        bad_epochs += 1
        if bad_epochs >= patience:
            break

model.load_state_dict(best_state)
print("steps:", steps)
