"""Moves a model away and back every step with torch.utils.swap_tensors, which fails if a tensor has another
owner."""
import torch

torch.__future__.set_swap_module_params_on_conversion(True)
torch.manual_seed(0)
model = torch.nn.Sequential(torch.nn.Linear(16, 32), torch.nn.ReLU(), torch.nn.Linear(32, 4))
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)

for _ in range(20):
    loss = model(torch.randn(8, 16)).pow(2).mean()
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
    del loss
    model.to(torch.float64)
    model.to(torch.float32)
print(f"{sum(p.abs().sum() for p in model.parameters()).item():.6f}")
