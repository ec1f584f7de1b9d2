"""Mixed precision training with torch.autocast in bfloat16 on the CPU.

steps: 40
"""

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(18)
torch.set_num_threads(1)

dataset = TensorDataset(torch.randn(640, 128), torch.randn(640, 16))
loader = DataLoader(dataset, batch_size=32, shuffle=True)

net = nn.Sequential(nn.Linear(128, 256), nn.ReLU(), nn.Linear(256, 256), nn.ReLU(), nn.Linear(256, 16))
opt = torch.optim.SGD(net.parameters(), lr=0.001)
scaler = torch.cuda.amp.GradScaler(enabled=torch.cuda.is_available())
loss_fn = nn.MSELoss()

steps = 0
for epoch in range(2):
    for inputs, target in loader:
        with torch.autocast(device_type="cpu", dtype=torch.bfloat16):
            output = net(inputs)
            loss = loss_fn(output.float(), target)
        scaler.scale(loss).backward()
        scaler.step(opt)
        scaler.update()
        opt.zero_grad()
        steps += 1
    print(f"epoch {epoch}: loss {loss.item():.4f}")

print("steps:", steps)
